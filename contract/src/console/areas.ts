/** First path segment after `/api/` in the admin API, for logs and metrics. A test compares it with the table of routes. */
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
