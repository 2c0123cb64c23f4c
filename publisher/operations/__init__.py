"""Operations: the processes of a running site, its backups, and the command that examines it."""
