/** Operations of the VM host on its configuration and its storage locations. */
import { type Static, Type } from '@sinclair/typebox'
import { endpoint } from '../endpoint.ts'
import { Done, Location, locationName } from './location.ts'

/** How the host is set up. */
export const HostConfig = Type.Object({
  homeDirectory: Type.String({ description: 'Folder of the location `home`.' }),
  vmLocations: Type.Array(Location, { description: 'Every location, `home` among them, sorted by name.' }),
  defaultLocationName: Type.String({ description: 'Where a VM is made when its request names no location.' }),
  cacheDirectory: Type.String({ description: 'Folder of cached images.' }),
  cachingEnabled: Type.Boolean({ description: 'Whether pulled images are kept for the next pull.' }),
  registry: Type.String({ description: 'The registry that images are pulled from and pushed to.' }),
  organization: Type.String({ description: 'Whose images there are meant.' }),
  ipswCatalog: Type.String({ description: 'Address of the list of restore images of macOS.' }),
})
export type HostConfig = Static<typeof HostConfig>

const named = Type.Object({ name: locationName })

/** The operations, in the order of the specification. */
export const configOperations = {
  getConfig: endpoint({
    method: 'GET',
    path: '/config',
    summary: 'Show the configuration.',
    description: 'Folders, storage locations and whether images are cached.',
    success: { status: 200, description: 'The configuration.', result: HostConfig },
    refusal: 'Failed to get config',
    command: { group: 'host', words: ['config', 'get'], usual: true, positional: [] },
  }),
  setConfig: endpoint({
    method: 'POST',
    path: '/config',
    summary: 'Change the configuration.',
    description:
      'Fields that are left out stay as they are. A folder is named by its absolute path (`~` stands for the home ' +
      'folder of the user who runs the service), must be writable and is made when it is absent. The home directory ' +
      'is the folder of the location `home`: to change the one is to change the other, and VMs in the old folder ' +
      'stay there, unlisted.',
    body: Type.Object({
      homeDirectory: Type.Optional(Type.String({ description: 'Folder of the location `home`.' })),
      cacheDirectory: Type.Optional(Type.String({ description: 'Folder of cached images.' })),
      cachingEnabled: Type.Optional(Type.Boolean({ description: 'Whether pulled images are kept.' })),
      registry: Type.Optional(
        Type.String({ maxLength: 255, description: 'The registry that images are pulled from and pushed to.' }),
      ),
      organization: Type.Optional(Type.String({ maxLength: 255, description: 'Whose images there are meant.' })),
      ipswCatalog: Type.Optional(
        Type.String({ pattern: '^https?://', description: 'Address of the list of restore images of macOS.' }),
      ),
    }),
    success: { status: 200, description: 'The configuration is changed.', result: Done },
    refusal: 'Invalid request',
    command: {
      group: 'host',
      words: ['config', 'set'],
      positional: [],
      absent: {
        homeDirectory: 'as it is',
        cacheDirectory: 'as it is',
        cachingEnabled: 'as it is',
        registry: 'as it is',
        organization: 'as it is',
        ipswCatalog: 'as it is',
      },
    },
  }),
  listLocations: endpoint({
    method: 'GET',
    path: '/config/locations',
    summary: 'List the storage locations.',
    description: 'Sorted by name.',
    success: { status: 200, description: 'The locations.', result: Type.Array(Location) },
    refusal: 'Failed to get locations',
    command: { group: 'host', words: ['config', 'locations', 'list'], usual: true, positional: [] },
  }),
  addLocation: endpoint({
    method: 'POST',
    path: '/config/locations',
    summary: 'Add a storage location.',
    description: 'The folder is named by its absolute path, must be writable and is made when it is absent.',
    body: Type.Object({ name: locationName, path: Type.String({ description: 'Absolute path of the folder.' }) }),
    success: {
      status: 200,
      description: 'The location is added.',
      result: Type.Composite([Done, Location]),
    },
    refusal: 'Invalid request or location already exists',
    command: { group: 'host', words: ['config', 'locations', 'add'], positional: ['name', 'path'] },
  }),
  removeLocation: endpoint({
    method: 'DELETE',
    path: '/config/locations/{name}',
    summary: 'Remove a storage location.',
    description: 'Its folder and the VMs in it stay on disk. The default location and `home` cannot be removed.',
    params: named,
    success: { status: 200, description: 'The location is removed.', result: Done },
    refusal: 'Location not found or cannot be removed',
    command: { group: 'host', words: ['config', 'locations', 'remove'], positional: ['name'] },
  }),
  setDefaultLocation: endpoint({
    method: 'POST',
    path: '/config/locations/default/{name}',
    summary: 'Choose where new VMs are made.',
    description: 'VMs that exist stay where they are.',
    params: named,
    success: { status: 200, description: 'The location is the default.', result: Done },
    refusal: 'Location not found',
    command: { group: 'host', words: ['config', 'locations', 'default'], positional: ['name'] },
  }),
} as const
