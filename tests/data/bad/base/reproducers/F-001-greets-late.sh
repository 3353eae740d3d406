#!/bin/sh
echo asked
echo answered late
