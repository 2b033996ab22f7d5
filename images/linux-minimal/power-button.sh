#!/bin/sh
exec poweroff
