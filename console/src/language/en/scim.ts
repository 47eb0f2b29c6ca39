export const scim = {
  marks: {
    label: "Directory",
    made: "Made by your directory (SCIM), {when}. Their name, address and whether they may sign in are the directory's: change them there. What you give them by hand stays.",
    connected:
      "Connected to your directory (SCIM), {when}. It names them and switches them off; their role and keys stay as they are here.",
    claims: "Rights from {account}",
    claimsHelp:
      "{account} last said their claims {when}. Rules make rights of these: less than a rule gives cannot be set by hand, more can.",
  },
  title: "Users and groups by SCIM",
  help: "Your directory (Microsoft Entra ID, Okta and others) creates people here, keeps their groups, and locks them out the moment they leave.",
  baseUrl: "Base URL",
  copyBaseUrl: "Copy base URL",
  users: "Users",
  usersAll: "{users}",
  usersSome: "{users}, {inactive} of them inactive",
  groups: "Groups",
  tokens: "Tokens",
  lastRequest: "Last request",
  never: "none yet",
  create: "Create token",
  createTitle: "Create a SCIM token",
  only: "A token for the directory alone",
  onlyHelp:
    "It creates, changes and deactivates people by SCIM and can do nothing else. It stops working when its creator is no longer an administrator, so create it as somebody the directory does not manage.",
  nameHelp: "Which directory uses it.",
  nameExample: "Entra ID",
  lifeHelp: "When it ends, the directory can no longer deactivate anybody. Replace it before.",
  grant: "SCIM only",
  where: "Revoke it under <tokens>Admin tokens</tokens>.",
  secret: "Token {name}",
  enter: "Enter both in your directory's provisioning settings.",
} as const;
