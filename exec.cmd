@rem The npm scripts begin with `exec`, so that no shell stands between npm and what it signals. Windows has none to replace.
@%*
