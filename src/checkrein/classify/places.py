"""Where what lies: the zone table as data. Rows are tried from the top; the first that matches decides.

A row is a zone and the places that have it. In a place `*` stands for anything within one name, `**` for anything at all,
`{a,b}` for either; a place that ends in `/` is that directory and everything below it. The tables are read by `zones.py`,
which knows what each is relative to. Places are public conventions of operating systems and tools; nothing is opened.
"""

from __future__ import annotations

from typing import NamedTuple

from checkrein.vocab.effects import Zone


class Row(NamedTuple):
    zone: Zone
    places: tuple[str, ...]


# Relative to a home directory. These are looked at before the workspace, for a home may itself be the workspace.
HOME_SHARP: tuple[Row, ...] = (
    Row(
        Zone.CHECKREIN,
        (
            ".config/checkrein/",
            ".local/{state,share}/checkrein/",
            ".cache/checkrein/",
            "Library/{Application Support,Preferences,Logs,Caches}/checkrein/",
            "AppData/{Local,Roaming}/checkrein/",
        ),
    ),
    Row(Zone.AUTHORIZED_KEYS, (".ssh/authorized_keys", ".ssh/authorized_keys2")),
    Row(Zone.AUTOSTART, (".ssh/rc", ".ssh/environment")),
    # public halves and host lists of ssh are ordinary dotfiles
    Row(Zone.HOME_DOT, (".ssh/*.pub", ".ssh/known_hosts", ".ssh/known_hosts.old", ".ssh/config", ".ssh/config.d/")),
    Row(
        Zone.HOME_DOT,
        (".gnupg/pubring.*", ".gnupg/gpg.conf", ".gnupg/gpg-agent.conf", ".gnupg/trustdb.gpg", ".docker/cli-plugins/"),
    ),
    Row(Zone.CACHE, (".kube/cache/", ".kube/http-cache/", ".docker/buildx/")),
    Row(
        Zone.CREDENTIALS,
        (
            # keys
            ".ssh/",
            ".gnupg/",
            ".age/",
            ".config/{age,sops}/",
            ".config/systemd/user.control/credentials/",
            "**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}",
            "**/*.{ppk,kdbx,kdb,p12,pfx,jks,keystore,ovpn}",
            "**/{privkey,private_key,private-key,server-key,client-key}*.pem",
            # clouds and clusters
            ".aws/",
            ".azure/",
            ".config/gcloud/",
            "AppData/Roaming/gcloud/",
            ".kube/",
            ".oci/",
            ".aliyun/",
            ".bluemix/",
            ".config/{doctl,hcloud,linode-cli,scw,fly,netlify,heroku,wrangler,.wrangler,stripe,op,1Password}/",
            ".{fly,netlify,vercel,wrangler,heroku}/",
            ".local/share/com.vercel.cli/",
            ".terraform.d/credentials.tfrc.json",
            ".terraformrc",
            ".pulumi/credentials.json",
            ".vault-token",
            ".{s3cfg,boto,databrickscfg,snowsql/config,passwd-s3fs}",
            ".config/rclone/rclone.conf",
            ".dbt/profiles.yml",
            # containers
            ".docker/",
            ".dockercfg",
            ".config/containers/auth.json",
            # packages
            ".npmrc",
            ".yarnrc.yml",
            ".pypirc",
            ".config/pypoetry/auth.toml",
            ".local/share/uv/credentials/",
            ".cargo/credentials",
            ".cargo/credentials.toml",
            ".gem/credentials",
            ".local/share/gem/credentials",
            ".bundle/config",
            ".m2/settings.xml",
            ".m2/settings-security.xml",
            ".gradle/gradle.properties",
            ".{nuget,config}/NuGet/NuGet.Config",
            "AppData/Roaming/NuGet/NuGet.Config",
            ".{composer,config/composer}/auth.json",
            ".condarc",
            # forges and hosts
            ".netrc",
            "_netrc",
            ".git-credentials",
            ".config/git/credentials",
            ".config/gh/hosts.yml",
            "AppData/Roaming/GitHub CLI/hosts.yml",
            ".config/hub",
            ".config/glab-cli/",
            ".config/github-copilot/",
            ".sentryclirc",
            ".{ngrok2,config/ngrok}/",
            # data
            ".pgpass",
            ".my.cnf",
            ".mylogin.cnf",
            ".kaggle/kaggle.json",
            ".{huggingface,cache/huggingface}/token",
            ".cache/huggingface/stored_tokens",
            ".{openai,anthropic}/",
            ".config/{openai,anthropic}/",
            # stores
            ".password-store/",
            ".local/share/{keyrings,kwalletd,gopass,seahorse}/",
            ".{gnome2,kde/share/apps/kwallet,kde4/share/apps/kwallet}/keyrings/",
            "Library/Keychains/",
            "AppData/{Local,Roaming}/Microsoft/{Credentials,Protect,Vault,Crypto,SystemCertificates}/",
            ".config/{Bitwarden,Bitwarden CLI,keepassxc,KeePass}/",
            ".{electrum,bitcoin,ethereum,config/solana}/",
            # browsers and mail
            ".mozilla/",
            ".thunderbird/",
            ".config/{google-chrome,google-chrome-beta,chromium,BraveSoftware,microsoft-edge,vivaldi,opera}/",
            "snap/{firefox,chromium}/",
            ".var/app/*{irefox,hrome,hromium,rave,dge}*/",
            "Library/Application Support/{Google/Chrome,Firefox,Chromium,BraveSoftware,Microsoft Edge,Arc,Vivaldi}/",
            "Library/{Cookies,Safari}/",
            "AppData/Local/{Google/Chrome,Chromium,BraveSoftware,Microsoft/Edge,Vivaldi}/",
            "AppData/Roaming/{Mozilla,Thunderbird,Opera Software}/",
            # logins of harnesses
            ".codex/auth.json",
            ".codex/.credentials.json",
            ".claude/.credentials.json",
            ".{gemini,qwen}/oauth_creds.json",
            ".gemini/mcp-oauth-tokens*.json",
            ".local/share/opencode/{auth,mcp-auth}.json",
            ".pi/agent/auth.json",
        ),
    ),
    Row(
        Zone.HARNESS_CONFIG,
        (
            ".claude.json",
            ".claude",
            ".claude/{settings*.json,hooks/,plugins/,remote-settings.json,policy-limits.json}",
            ".codex",
            ".codex/{config.toml,*.config.toml,hooks*,hooks/,rules/,requirements.toml,managed_config.toml,policy/}",
            ".gemini",
            ".gemini/{settings.json,policies/,hooks/,extensions/,trustedFolders.json,trusted_hooks.json}",
            ".qwen",
            ".qwen/{settings.json,hooks/,extensions/,trustedFolders.json}",
            ".config/opencode/",
            ".opencode/",
            ".pi/agent/{settings.json,models.json,extensions/,hooks/}",
            ".cursor/{mcp.json,hooks.json,cli-config.json,permissions.json,hooks/}",
            ".copilot/{config.json,mcp-config.json}",
            ".kiro/{settings,hooks}/",
            ".factory/settings.json",
            "Library/Application Support/{ClaudeCode,Claude}/",
        ),
    ),
    Row(
        Zone.SHELL_RC,
        (
            ".{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,inputrc}",
            ".{zshrc,zshenv,zprofile,zlogin,zlogout,zsh_aliases,zimrc,p10k.zsh}",
            ".{kshrc,mkshrc,cshrc,tcshrc,login,logout,xonshrc,direnvrc,envrc,pam_environment,aliases}",
            ".{bashrc.d,zshrc.d,profile.d,config/bash,config/zsh,oh-my-zsh/custom,zsh}/",
            ".config/{fish,nushell,xonsh,powershell,direnv}/",
            "{Documents,OneDrive/Documents}/{WindowsPowerShell,PowerShell}/*rofile.ps1",
        ),
    ),
    Row(
        Zone.AUTOSTART,
        (
            ".config/{autostart,autostart-scripts,systemd,upstart,environment.d,plasma-workspace}/",
            ".local/share/{systemd,autostart,dbus-1/services}/",
            ".{xinitrc,xprofile,xsession,xsessionrc,Xclients,crontab}",
            "Library/{LaunchAgents,LaunchDaemons,StartupItems}/",
            "AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/",
        ),
    ),
    Row(Zone.GIT_HOOKS, (".config/git/{hooks,template}/", ".git-templates/", ".git_template/", ".githooks/")),
    Row(Zone.GIT_CONFIG, (".gitconfig", ".gitconfig*", ".config/git/config*")),
)

# Relative to a home directory, once the workspace has been looked at.
HOME_SOFT: tuple[Row, ...] = (
    Row(Zone.TEMP_ROOT, ("AppData/Local/Temp",)),
    Row(Zone.TEMP, ("AppData/Local/Temp/**",)),
    Row(
        Zone.CACHE,
        (
            ".cache/",
            ".{npm,pnpm-store,yarn/cache,yarn-cache,node-gyp,electron,electron-gyp,jspm}/",
            ".local/share/{pnpm/store,uv,virtualenv,virtualenvs,pypoetry}/",
            ".cargo/{registry,git}/",
            ".rustup/{downloads,tmp}/",
            "go/pkg/",
            ".gradle/{caches,daemon,wrapper,native}/",
            ".m2/repository/",
            ".{ivy2,sbt/boot,coursier,konan,nuget/packages,nuget/http-cache,composer/cache,pub-cache,hex,cpanm,stack}/",
            ".cabal/packages/",
            ".bun/install/cache/",
            ".deno/{deps,gen,npm}/",
            ".{conda,mamba}/pkgs/",
            ".terraform.d/plugin-cache/",
            ".{ccache,sccache,android/cache,expo,cypress,matplotlib}/",
            "Library/{Caches,Developer/Xcode/DerivedData}/",
            "AppData/Local/{npm-cache,pip,Yarn,uv,NuGet,pnpm,go-build,electron,ms-playwright,pypoetry}/",
            "AppData/Roaming/npm-cache/",
        ),
    ),
)

# Relative to a workspace (and to any other project directory: the harness looks there when it starts in it).
PROJECT: tuple[Row, ...] = (
    Row(Zone.CHECKREIN, (".checkrein/",)),
    Row(
        Zone.HARNESS_CONFIG,
        (
            ".claude",
            ".claude/{settings*.json,hooks/}",
            ".mcp.json",
            ".codex",
            ".codex/{config.toml,hooks*,hooks/,rules/,requirements.toml,policy/}",
            ".gemini",
            ".gemini/{settings.json,policies/,hooks/,extensions/}",
            ".qwen",
            ".qwen/{settings.json,hooks/,extensions/}",
            "opencode.{json,jsonc}",
            ".opencode",
            ".opencode/{opencode.json,opencode.jsonc,plugin/,plugins/,tool/,tools/}",
            ".pi/{settings.json,extensions/,hooks/}",
            ".cursor/{mcp.json,hooks.json,cli.json,permissions.json,hooks/}",
            ".kiro/{settings,hooks}/",
            ".factory/settings.json",
            ".agents/hooks/",
            "managed-settings.json",
        ),
    ),
    Row(
        Zone.WORKSPACE_SECRET,
        (
            "**/{.netrc,_netrc,.pgpass,.pypirc,.git-credentials,.vault_pass,.vault-token,.my.cnf}",
            "config/{master.key,credentials/*.key}",
        ),
    ),
)

# Absolute, on POSIX.
SYSTEM_POSIX: tuple[Row, ...] = (
    Row(Zone.CHECKREIN, ("/etc/checkrein/", "/etc/xdg/checkrein/", "/Library/Application Support/checkrein/")),
    Row(
        Zone.HARNESS_CONFIG,
        (
            "/etc/{claude-code,codex,opencode,gemini-cli,qwen-code}/",
            "/Library/Application Support/{ClaudeCode,Codex,GeminiCli,opencode}/",
        ),
    ),
    Row(
        Zone.CREDENTIALS,
        (
            "/etc/{shadow,shadow-,gshadow,gshadow-,master.passwd,krb5.keytab,security/opasswd}",
            "/etc/ssh/ssh_host_*key",
            "/etc/ssl/private/",
            "/etc/pki/tls/private/",
            "/etc/letsencrypt/{live,archive,keys}/",
            "/etc/{wireguard,openvpn,ipsec.d/private,NetworkManager/system-connections}/",
            "/etc/kubernetes/*.conf",
            "/etc/kubernetes/pki/",
            "/etc/rancher/*/*.yaml",
            "/var/lib/{kubelet/pki,rancher,boot2docker,sss/db}/",
            "/{run,var/run}/secrets/",
            "/{tmp,run}/krb5cc*",
            "/tmp/ssh-*/",
            "/run/user/*/{keyring,gnupg}/",
            "/Library/Keychains/",
            "/private/var/db/dslocal/nodes/",
            "/proc/*/environ",
            "/proc/*/task/*/environ",
        ),
    ),
    Row(
        Zone.SHELL_RC,
        (
            "/etc/{profile,bashrc,bash.bashrc,bash.bash_logout,zshrc,zshenv,zprofile,zlogin,csh.cshrc,csh.login,environment,inputrc}",
            "/etc/{profile.d,zsh,fish,bashrc.d,skel}/",
        ),
    ),
    Row(
        Zone.AUTOSTART,
        (
            "/etc/{crontab,anacrontab,rc.local,rc.common,inittab,ld.so.preload}",
            "/etc/{cron.d,cron.daily,cron.hourly,cron.weekly,cron.monthly,init.d,init,rc0.d,rc1.d,rc2.d,rc3.d,rc4.d,rc5.d,rc6.d}/",
            "/etc/{systemd,xdg/autostart,X11/xinit,X11/Xsession.d,update-motd.d,NetworkManager/dispatcher.d,udev/rules.d}/",
            "/{lib,usr/lib,usr/local/lib,run}/systemd/",
            "/var/{spool/cron,spool/at,spool/anacron}/",
            "/{Library,System/Library}/{LaunchAgents,LaunchDaemons,StartupItems}/",
        ),
    ),
    Row(Zone.AUTHORIZED_KEYS, ("/etc/ssh/authorized_keys/", "/etc/ssh/authorized_keys.d/")),
    Row(Zone.GIT_CONFIG, ("/etc/gitconfig",)),
    Row(Zone.GIT_HOOKS, ("/usr/share/git-core/templates/hooks/",)),
    Row(
        Zone.NULL_DEVICE,
        (
            "/dev/{null,zero,full,random,urandom,arandom,stdin,stdout,stderr,tty,ptmx,console}",
            "/dev/{fd,pts}/",
            "/proc/{self,thread-self}/fd/",
            "/proc/{self,thread-self}/task/*/fd/",
        ),
    ),
    Row(Zone.NETWORK, ("/dev/{tcp,udp}/",)),
    Row(Zone.UNRESOLVED, ("/proc/*/fd/", "/proc/*/task/*/fd/", "/proc/*/map_files/")),
    Row(
        Zone.DEVICE,
        ("/proc/{kcore,kmem,sysrq-trigger}", "/proc/*/mem", "/proc/*/task/*/mem", "/dev/**", "/sys/firmware/efi/efivars/"),
    ),
    Row(Zone.TEMP_ROOT, ("/private/tmp", "/private/var/tmp")),
    Row(Zone.TEMP, ("/private/tmp/**", "/private/var/tmp/**", "/{private/,}var/folders/*/*/{T,C}/")),
    Row(
        Zone.SYSTEM_ROOT,
        (
            "/",
            "/*",
            "/usr/{bin,sbin,lib,lib32,lib64,libexec,include,share,local,src}",
            "/usr/local/{bin,sbin,lib,share,etc}",
            "/var/{lib,log,cache,spool,www,db,mail,backups,run}",
            "/run/user",
            "/System/{Library,Volumes,Applications}",
            "/private/{var,etc}",
            "/Volumes/*",
            "/mnt/*",
            "/media/*",
        ),
    ),
)

# Absolute, on Windows, with forward slashes; `C:` stands for any drive.
SYSTEM_WINDOWS: tuple[Row, ...] = (
    Row(Zone.CHECKREIN, ("C:/ProgramData/checkrein/",)),
    Row(Zone.HARNESS_CONFIG, ("C:/{ProgramData,Program Files}/{ClaudeCode,codex,OpenAI,gemini-cli,opencode}/",)),
    Row(
        Zone.CREDENTIALS,
        (
            "C:/Windows/System32/config/",
            "C:/Windows/System32/Microsoft/Protect/",
            "C:/Windows/{repair,NTDS}/",
            "C:/ProgramData/Microsoft/{Crypto,Vault,Wlansvc}/",
            "C:/ProgramData/ssh/ssh_host_*key",
        ),
    ),
    Row(Zone.AUTHORIZED_KEYS, ("C:/ProgramData/ssh/administrators_authorized_keys",)),
    Row(
        Zone.AUTOSTART,
        ("C:/Windows/{System32/,}Tasks/", "C:/ProgramData/Microsoft/Windows/Start Menu/Programs/Startup/"),
    ),
    Row(Zone.SHELL_RC, ("C:/Windows/System32/WindowsPowerShell/v1.0/*rofile.ps1", "C:/Program Files/PowerShell/*/*rofile.ps1")),
    Row(Zone.TEMP_ROOT, ("C:/Windows/Temp", "C:/Temp", "C:/tmp")),
    Row(Zone.TEMP, ("C:/Windows/Temp/**", "C:/Temp/**", "C:/tmp/**")),
    Row(
        Zone.SYSTEM_ROOT,
        ("C:", "C:/*", "C:/Windows/{System32,SysWOW64,WinSxS}", "C:/Program Files{, (x86)}/*"),
    ),
)

# Directories that hold a virtual environment, whatever their name.
VENV = frozenset(["bin", "lib", "lib64", "include", "share", "scripts", "pyvenv.cfg", "conda-meta"])

# Endings of `.env*` names that hold examples and no secrets.
EXAMPLES = (".example", ".sample", ".template")

# Below these names of a workspace, keys are test data.
TEST_DATA = frozenset(["test", "tests", "testdata", "test-data", "fixtures", "__fixtures__", "examples", "spec", "docs"])

# Names of private keys wherever they lie.
KEY_NAMES = frozenset(["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"])

# A workspace directly below one of these has no siblings: what lies beside it belongs to the system.
SYSTEM_PARENTS = frozenset(
    ["/", "/usr", "/opt", "/etc", "/var", "/home", "/root", "/Users", "/mnt", "/media", "/usr/local", "/usr/src", "/srv"]
)
