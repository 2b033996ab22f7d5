# Who this machine is; sourced by /etc/rc. A copy of a disk that wakes up as another instance gets a name and keys of
# its own. The instance is named by the kernel's command line, where that stands for a seed that says no more than this and
# the name; else by the seed (a disk labelled CIDATA, as cloud-init's NoCloud has it), else by the machine's UUID. Every process costs the first answer hundredths of a second under emulation: what the shell can do, it does.
state=/var/lib/backlot
instance=unnamed name='' lists=''
read -r instance 2>/dev/null </sys/class/dmi/id/product_uuid
told='' seed=''
read -r words </proc/cmdline
for word in $words; do
  case $word in
    backlot.instance=*) told=${word#*=} ;;
    backlot.hostname=*) name=${word#*=} ;;
  esac
done
if [ -n "$told" ]; then
  instance=$told
elif [ -b /dev/vdb ]; then
  seed=$(findfs LABEL=CIDATA 2>/dev/null || findfs LABEL=cidata 2>/dev/null)
fi
if [ -n "$seed" ]; then
  modprobe -a vfat nls_cp437 nls_ascii
  mount -t vfat -o ro "$seed" /mnt 2>/dev/null || { modprobe isofs && mount -t iso9660 -o ro "$seed" /mnt; } || seed=''
fi
if [ -n "$seed" ]; then
  mkdir -m 700 /run/seed
  cp /mnt/meta-data /mnt/user-data /run/seed/ 2>/dev/null
  umount /mnt
  while read -r key value; do
    case $key in
      instance-id:) instance=$value ;;
      local-hostname:) name=$value ;;
      public-keys:) lists="$lists meta-data" ;;
    esac
  done </run/seed/meta-data
fi

known=''
read -r known 2>/dev/null <$state/instance
if [ "$instance" != "$known" ]; then
  rm -f /etc/dropbear/*_host_key $state/first-boot-done
  if [ -s /run/seed/user-data ]; then
    read -r first </run/seed/user-data
    case $first in '#!'*) ;; *) lists="$lists user-data" ;; esac
  fi
  for part in $lists; do awk -f /usr/lib/backlot/cloud-config.awk /run/seed/"$part" >/run/seed/"$part.lines"; done
  keys=''
  for part in $lists; do
    while read -r key value; do
      case $key in
        hostname) name=$value ;;
        public-keys | ssh_authorized_keys) keys="$keys$value
" ;;
      esac
    done </run/seed/"$part.lines"
  done
  if [ -n "$keys" ]; then
    mkdir -p -m 700 ~root/.ssh
    echo "$keys" >~root/.ssh/authorized_keys
    chmod 600 ~root/.ssh/authorized_keys
  fi
  read -r uuid </proc/sys/kernel/random/uuid
  echo "$uuid" | tr -d '-' >/etc/machine-id
  [ -n "$name" ] || read -r name <$state/name
  echo "$name" >/etc/hostname
  # Where this is lost with the power, the next start does it all once more.
  echo "$instance" >$state/instance
fi
read -r name </etc/hostname
hostname "$name"
