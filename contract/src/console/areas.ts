/** What follows `/api/` in the paths of the admin API, for logs and metrics. A test keeps it equal to the table of routes. */
export const adminAreas: readonly string[] = [
  "agents",
  "invitation",
  "invitations",
  "models",
  "price-list",
  "provider-kinds",
  "providers",
  "reset",
  "session",
  "settings",
  "system",
  "tokens",
  "users",
  "workspaces",
];
