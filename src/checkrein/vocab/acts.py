"""Acts: what a known command does, beyond touching paths and hosts. Rules name acts; command families report them.

An act is a fact, never a verdict. The policy decides which acts are allowed, asked or denied.
"""

from __future__ import annotations

from enum import StrEnum


class Act(StrEnum):
    """The closed set. The part before the dot is the family."""

    # files
    MODE_RECURSIVE = "files.mode-recursive"  # chmod/chown/setfacl -R
    MODE_SETUID = "files.setuid"
    OVERWRITE = "files.overwrite"  # shred, truncate to nothing
    # disks and devices
    DISK_FORMAT = "disk.format"
    DISK_WRITE = "disk.write"
    DISK_PARTITION = "disk.partition"
    MOUNT = "disk.mount"
    # processes and power
    POWER = "process.power"
    KILL_ALL = "process.kill-all"
    KILL_BROAD = "process.kill-broad"
    KILL_GUARD = "process.kill-guard"
    FORK_BOMB = "process.fork-bomb"
    KERNEL = "process.kernel"  # modules, sysctl, kexec
    SERVICE = "process.service"  # service control
    FIREWALL = "process.firewall"
    TRACE = "process.trace"  # attach to another process
    # privilege
    PRIVILEGE = "privilege.gain"
    ACCOUNT = "privilege.account"  # users, groups, passwords, sudoers
    # agents and the guard itself
    GRANT = "guard.grant"  # checkrein allow|review|breaker|guard|serve
    AGENT = "guard.agent"  # another agent CLI
    # interpreters
    DOWNLOAD_RUN = "net.download-run"
    REVERSE_SHELL = "net.reverse-shell"
    TUNNEL = "net.tunnel"
    LISTEN = "net.listen"
    DECODE_RUN = "script.decode-run"
    SCRIPT_DANGER = "script.danger"
    # environment that changes what runs
    ENV_HIJACK = "env.hijack"  # LD_PRELOAD, BASH_ENV, PATH to a temp dir ...
    # git
    GIT_RESET_HARD = "git.reset-hard"
    GIT_DISCARD = "git.discard"  # checkout -- ., restore .
    GIT_STASH_LOSS = "git.stash-loss"
    GIT_BRANCH_LOSS = "git.branch-loss"
    GIT_LEASE_PUSH = "git.lease-push"
    GIT_FORCE_PUSH = "git.force-push"
    GIT_DELETE_PUSH = "git.delete-push"
    GIT_URL_PUSH = "git.url-push"
    GIT_CLEAN = "git.clean"
    GIT_REWRITE = "git.rewrite"  # filter-branch, filter-repo
    GIT_REFLOG_LOSS = "git.reflog-loss"
    GIT_REF_DELETE = "git.ref-delete"
    GIT_WORKTREE_LOSS = "git.worktree-loss"
    GIT_CONFIG_ALIAS = "git.config-alias"  # aliases, includes
    GIT_CONFIG_EXEC = "git.config-exec"  # core.hooksPath, core.sshCommand, ...
    # packages
    PKG_LOCAL = "package.local"  # from the default index into the workspace
    PKG_GLOBAL = "package.global"
    PKG_FOREIGN = "package.foreign"  # URL, VCS or another index
    # publishing
    PUBLISH = "publish.release"
    REPO_DELETE = "publish.repository-delete"
    PUBLISH_DRY = "publish.dry-run"
    # remote systems: cluster, cloud, infrastructure
    REMOTE_READ = "remote.read"
    REMOTE_CHANGE = "remote.change"
    REMOTE_DELETE = "remote.delete"
    # databases
    DB_READ = "database.read"
    DB_WRITE = "database.write"
    DB_DESTROY = "database.destroy"
    # containers
    BOX_RUN = "container.run"
    BOX_PRUNE = "container.prune"
    BOX_PRIVILEGED = "container.privileged"
    BOX_MOUNT = "container.mount"  # of /, home or the engine socket
    # scheduling and persistence
    SCHEDULE_SYSTEM = "schedule.system"  # cron, at, systemd timers, launchd
    SCHEDULE_ERASE = "schedule.erase"
    # shell state
    HISTORY = "shell.history"
    # hosted tools
    HOSTED_SEARCH = "hosted.search"
    HOSTED_OTHER = "hosted.other"
    # MCP
    MCP_REVIEWED = "mcp.reviewed"
    MCP_UNREVIEWED = "mcp.unreviewed"
