#!/bin/sh
# `shutdown` as the guest agent calls it: -P off, -r again, -H halt.
case " $* " in
  *' -r '*) exec reboot ;;
  *' -H '*) exec halt ;;
  *) exec poweroff ;;
esac
