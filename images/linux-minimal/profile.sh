export PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PS1='\u@\h:\w\$ '
