/**
 * The borders of gateway/src, as drawn in docs/architecture.md. A row lists the modules that a module may import, besides
 * the base (core, ports, and the package contract), which every module may import.
 */
export const rows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  ports: ["core"],
  protocols: [],
  credentials: ["protocols"],
  providers: ["credentials", "protocols"],
  "provider-client": ["credentials", "providers", "protocols"],
  bodies: ["guardrails", "providers", "protocols"],
  routing: [],
  guardrails: ["protocols"],
  limits: [],
  ledger: ["journal"],
  identity: ["directory"],
  directory: ["guardrails", "storage"],
  importers: ["providers"],
  files: ["assets", "provider-client", "providers", "protocols", "storage"],
  assets: ["provider-client", "providers", "storage"],
  relay: ["files", "guardrails", "provider-client", "bodies", "providers", "protocols", "routing", "limits", "ledger"],
  tasks: [
    "relay",
    "provider-client",
    "bodies",
    "providers",
    "protocols",
    "routing",
    "limits",
    "ledger",
    "assets",
    "storage",
  ],
  batches: [
    "relay",
    "provider-client",
    "bodies",
    "providers",
    "protocols",
    "limits",
    "ledger",
    "files",
    "identity",
    "storage",
  ],
  rehearsal: ["coordination", "identity", "limits", "providers", "routing", "storage", "system"],
  alerts: ["directory", "limits", "tasks", "storage"],
  api: ["batches", "tasks", "relay", "bodies", "assets", "files", "identity", "protocols", "http-server", "http1"],
  admin: [
    "alerts",
    "bodies",
    "directory",
    "guardrails",
    "identity",
    "routing",
    "limits",
    "ledger",
    "provider-client",
    "providers",
    "tasks",
    "batches",
    "assets",
    "files",
    "rehearsal",
  ],
  storage: ["system"],
  coordination: [],
  http1: [],
  upstream: ["http1"],
  "http-server": ["http1"],
  telemetry: ["system"],
  system: [],
  "sign-in": ["storage"],
  mail: [],
  config: [],
  workers: [],
};

/** The entry points of the package contract. `words` imports no schema, so that importing it loads none. */
export const contractParts: ReadonlySet<string> = new Set([
  "@sluice/contract/words",
  "@sluice/contract/config-file",
  "@sluice/contract/console",
  "@sluice/contract/openapi",
  "@sluice/contract/answers",
]);

/** Additional entry points, and the only modules that may use them. */
export const sideDoors: Readonly<Record<string, readonly string[]>> = {
  "storage/tables.ts": ["directory", "alerts", "batches", "tasks", "assets", "files", "rehearsal", "sign-in"],
  "storage/in-thread.ts": ["rehearsal"],
};

/** Modules that may use files, sockets, databases, and the runtime's server and clock. */
export const edgeModules: ReadonlySet<string> = new Set([
  "storage",
  "coordination",
  "upstream",
  "http-server",
  "telemetry",
  "system",
  "sign-in",
  "mail",
  "config",
  "workers",
  "cli",
]);

/** The composition root and its callers. These may import every module. */
export const rootModules: ReadonlySet<string> = new Set(["cli", "main"]);

/** From top to bottom, as drawn. */
export const layers: readonly (readonly [name: string, modules: readonly string[]])[] = [
  ["root", ["cli", "main"]],
  ["APIs", ["api", "admin"]],
  ["flows", ["rehearsal", "alerts", "batches", "tasks", "relay"]],
  [
    "domains",
    [
      "assets",
      "files",
      "bodies",
      "provider-client",
      "providers",
      "credentials",
      "guardrails",
      "routing",
      "limits",
      "ledger",
      "identity",
      "importers",
      "directory",
    ],
  ],
  ["formats", ["protocols"]],
  [
    "edge",
    [
      "storage",
      "coordination",
      "upstream",
      "http-server",
      "http1",
      "telemetry",
      "system",
      "sign-in",
      "mail",
      "config",
      "workers",
    ],
  ],
  ["base", ["ports", "core"]],
];

/** The folders of `storage`, and the other folders that each may import. All may import `database` and `disk`. */
export const storageRows: Readonly<Record<string, readonly string[]>> = {
  disk: [],
  database: [],
  vault: [],
  changes: [],
  journal: [],
  ledger: ["journal"],
  drain: ["journal", "ledger"],
  upkeep: ["vault"],
  "ledger-export": ["ledger"],
  focus: ["ledger", "reports"],
  move: ["ledger", "upkeep", "vault"],
  keys: ["ledger"],
  reports: ["explain", "keys", "ledger"],
  leases: [],
  tries: [],
  broadcast: [],
  explain: ["journal"],
  spool: [],
  blobs: [],
  static: [],
};
