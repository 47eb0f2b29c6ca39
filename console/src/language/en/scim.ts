export const scim = {
  marks: {
    label: "Directory",
    made: "Created by your directory (SCIM), {when}. The directory manages their name, email address and sign-in access: change those there. Roles that you assign here are kept.",
    connected:
      "Connected to your directory (SCIM), {when}. It manages their name and status; their role and keys are managed here.",
    claims: "Permissions from {account}",
    claimsHelp:
      "{account} last sent their claims {when}. Rules map these to permissions: you can assign more manually, but not less.",
  },
  title: "User and group provisioning (SCIM)",
  help: "Your directory (Microsoft Entra ID, Okta and others) creates people here, keeps their groups up to date, and disables them as soon as they leave.",
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
  only: "Token for the directory only",
  onlyHelp:
    "It can only create, change and deactivate people through SCIM. It stops working when its creator is no longer an administrator, so create it with an account that the directory does not manage.",
  nameHelp: "The directory that uses it.",
  nameExample: "Entra ID",
  lifeHelp: "When it expires, the directory can no longer deactivate people. Replace it before then.",
  grant: "SCIM only",
  where: "Revoke it under <tokens>Admin tokens</tokens>.",
  secret: "Token {name}",
  enter: "Enter both in your directory's provisioning settings.",
} as const;
