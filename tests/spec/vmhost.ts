/** Requirements of the VM host's HTTP API; the sentences that only sum up the endpoint table stand there, row by row. */
import { needsMac } from './reasons.ts'
import type { Rows } from './requirement.ts'

export const vmhost = {
  'vmhost.serve.command': '`serve` starts the service from the command line.',
  'vmhost.serve.port': '`serve --port N` listens on that port.',
  'vmhost.serve.default-address': 'Without --port the service answers plain HTTP on the local host, port 7777.',
  'vmhost.serve.json-bodies': 'Request bodies are JSON sent as application/json; successful answers are JSON.',

  'vmhost.settings.name': 'A VM is created under the required string `name`, which is a path parameter afterwards.',
  'vmhost.settings.os': 'Create requires `os`, one of `macOS` and `linux`.',
  'vmhost.settings.cpu': '`cpu` is the number of cores: required on create, optional on update.',
  'vmhost.settings.memory': '`memory` is a number with a unit such as GB: required on create, optional on update.',
  'vmhost.settings.disk-size': '`diskSize` is a number with a unit such as GB: required on create, optional on update.',
  'vmhost.settings.display': '`display` is `<width>x<height>`: required on create, optional on update.',
  'vmhost.settings.ipsw': {
    text: '`ipsw` is the path of an IPSW file or `latest`, for a macOS VM.',
    deferred: needsMac,
  },
  'vmhost.settings.storage': '`storage` names the location to use, on create and on update.',

  'vmhost.run-options.no-display': '`noDisplay` (false by default) runs the VM without its VNC display.',
  'vmhost.run-options.shared-directories': '`sharedDirectories` is an array of directories shared with the VM.',
  'vmhost.run-options.recovery-mode': {
    text: '`recoveryMode` (false by default) boots a macOS VM in recovery mode.',
    deferred: needsMac,
  },
  'vmhost.run-options.storage': 'The run body takes an optional `storage` location.',

  'vmhost.location.name': 'A storage location carries its `name`.',
  'vmhost.location.path': 'A storage location carries the `path` of its directory.',
  'vmhost.location.one-default': 'Exactly one storage location is the default; only its own operation changes which.',

  'vmhost.config.home-directory': '`homeDirectory` is the path of the VM home directory.',
  'vmhost.config.cache-directory': '`cacheDirectory` is the path of the cache directory.',
  'vmhost.config.caching-enabled': '`cachingEnabled` turns image caching on and off.',

  'vmhost.image-reference.image': 'Pull takes `image` as `<name>:<tag>`.',
  'vmhost.image-reference.image-name': 'Push takes `imageName`, the base name in the registry.',
  'vmhost.image-reference.tags': 'Push takes `tags`, a list, and pushes each.',
  'vmhost.image-reference.registry': '`registry` is the registry address; without it a built-in address applies.',
  'vmhost.image-reference.organization':
    '`organization` is whose images are pulled, pushed or listed; a built-in one applies without it.',
  'vmhost.image-reference.chunk-size': '`chunkSizeMb` is the upload chunk size in MB, 512 by default.',

  'vmhost.log-query.type': '`type` is `info`, `error` or `all`; `all` by default.',
  'vmhost.log-query.lines': '`lines` is the number of lines from the end of the log.',

  'vmhost.timing.run-asynchronous': 'Starting a VM answers 202 and completes asynchronously.',
  'vmhost.timing.push-asynchronous': 'Pushing an image answers 202 and completes asynchronously.',
  'vmhost.timing.stop-done': 'Stopping answers 200 when the VM has stopped.',

  'vmhost.vms.list': 'GET /svc/vms answers 200 with the VMs.',
  'vmhost.vms.list.storage': 'GET /svc/vms?storage=NAME lists the VMs of that location only.',
  'vmhost.vms.list.refused': 'GET /svc/vms answers 400 to a bad request.',
  'vmhost.vms.get': 'GET /svc/vms/{name} answers 200 with the VM; `storage` may say where.',
  'vmhost.vms.get.refused': 'GET /svc/vms/{name} answers 400 when the VM is not found or the request is invalid.',
  'vmhost.vms.create': 'POST /svc/vms answers 200 and the VM exists.',
  'vmhost.vms.create.refused': 'POST /svc/vms answers 400 to an invalid body or a failed creation.',
  'vmhost.vms.delete': 'DELETE /svc/vms/{name} answers 200 and the VM and its files are gone.',
  'vmhost.vms.delete.refused': 'DELETE /svc/vms/{name} answers 400 when the VM is not found or deletion fails.',
  'vmhost.vms.clone': 'POST /svc/vms/clone makes `newName` of `name`, across `sourceLocation` and `destLocation`; 200.',
  'vmhost.vms.clone.refused': 'POST /svc/vms/clone answers 400 when the clone fails.',
  'vmhost.vms.update': 'PATCH /svc/vms/{name} changes cpu, memory, diskSize, display and storage, each optional; 200.',
  'vmhost.vms.update.refused': 'PATCH /svc/vms/{name} answers 400 to invalid settings or a failed update.',
  'vmhost.vms.run': 'POST /svc/vms/{name}/run takes the run options and answers 202.',
  'vmhost.vms.run.refused': 'POST /svc/vms/{name}/run answers 400 to an invalid request or an unknown VM.',
  'vmhost.vms.stop': 'POST /svc/vms/{name}/stop takes an optional storage and answers 200.',
  'vmhost.vms.stop.refused': 'POST /svc/vms/{name}/stop answers 400 when the stop fails.',
  'vmhost.images.list': 'GET /svc/images lists the images of the local cache; `organization` is optional; 200.',
  'vmhost.images.list.refused': 'GET /svc/images answers 400 when listing fails.',
  'vmhost.ipsw.get': 'GET /svc/ipsw answers 200 with the URL of the latest macOS restore image.',
  'vmhost.ipsw.get.refused': 'GET /svc/ipsw answers 400 when the URL cannot be had.',
  'vmhost.pull': 'POST /svc/pull pulls `image`, into the VM `name` when given; registry, organization, storage; 200.',
  'vmhost.pull.refused': 'POST /svc/pull answers 400 when the pull fails.',
  'vmhost.push': 'POST /svc/vms/push takes name, imageName, tags and the optional fields and answers 202.',
  'vmhost.push.refused': 'POST /svc/vms/push answers 400 to an invalid request.',
  'vmhost.prune': 'POST /svc/prune removes the cached images; 200.',
  'vmhost.prune.refused': 'POST /svc/prune answers 400 when it fails.',
  'vmhost.config.get': 'GET /svc/config answers 200 with the configuration.',
  'vmhost.config.get.refused': 'GET /svc/config answers 400 when the configuration cannot be read.',
  'vmhost.config.set': 'POST /svc/config changes what its body names, every field optional; 200.',
  'vmhost.config.set.refused': 'POST /svc/config answers 400 to an invalid request.',
  'vmhost.locations.list': 'GET /svc/config/locations answers 200 with the locations.',
  'vmhost.locations.list.refused': 'GET /svc/config/locations answers 400 when they cannot be read.',
  'vmhost.locations.add': 'POST /svc/config/locations takes name and path, adds the location and answers 200.',
  'vmhost.locations.add.refused':
    'POST /svc/config/locations answers 400 to an invalid request or a name that exists already.',
  'vmhost.locations.remove': 'DELETE /svc/config/locations/{name} removes the location and answers 200.',
  'vmhost.locations.remove.refused':
    'DELETE /svc/config/locations/{name} answers 400 when it is not found or cannot be removed.',
  'vmhost.locations.default': 'POST /svc/config/locations/default/{name} takes no body, sets the default; 200.',
  'vmhost.locations.default.refused': 'POST /svc/config/locations/default/{name} answers 400 when it is not found.',
  'vmhost.logs.get': 'GET /svc/logs takes type and lines, both optional, and answers 200.',
  'vmhost.logs.get.refused': 'GET /svc/logs answers 400 when the logs cannot be read.',

  'vmhost.errors.always-400': 'Every documented failure of every operation is status 400.',
  'vmhost.errors.no-other-status': 'An operation of the specification that fails answers 400 and no other status.',

  'vmhost.limits.chunk-size': 'The upload chunk size is 512 MB unless the push says otherwise.',
  'vmhost.limits.port': 'The default port is 7777.',
  'vmhost.limits.log-type': 'The log type is `all` unless the query says otherwise.',

  'vmhost.version.label': {
    text: 'The interface is labelled version v0.2.76.',
    deferred: 'the label belongs to the interface whose paths are served; no operation carries it',
  },
  'vmhost.version.no-path-segment': 'Paths carry no version segment.',
} as const satisfies Rows
