/** The admin API: its routes, who may take them, what they carry, and a client. */
export * from "./areas.ts";
export * from "./client.ts";
export * from "./keys.ts";
export * from "./media.ts";
export * from "./models.ts";
export * from "./paths.ts";
export * from "./providers.ts";
export * from "./remark-codes.ts";
export * from "./requests.ts";
export * from "./roles.ts";
export * from "./route.ts";
export * from "./routes.ts";
export * from "./session.ts";
export * from "./settings.ts";
export * from "./states.ts";
export * from "./usage.ts";
export type { LeaverKeys, Person } from "./words.ts";
export * from "./workspaces.ts";
