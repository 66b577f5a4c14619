#!/bin/sh
# A bot of the line protocol that plays the first legal move. Run it:
#
#     sh bot.sh

while read -r word colour board time move others; do
    case $word in
    game) echo ready ;;
    move) echo "$move" ;;
    quit) exit ;;
    esac
done
