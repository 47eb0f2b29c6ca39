/** `own`: the setting has its own schema in `config.ts`. */
type SettingKind =
  | {
      readonly type: "integer";
      readonly unit: "days" | "seconds" | "milliseconds" | "gigabytes";
      readonly min: number;
      readonly max: number;
    }
  | { readonly type: "boolean" }
  | { readonly type: "choice"; readonly of: readonly string[] }
  | { readonly type: "text"; readonly max: number; readonly lines?: true }
  /** `#0b7285`; empty: none. */
  | { readonly type: "color" }
  /** A data URL, see `logoFault`; empty: none. */
  | { readonly type: "logo" }
  | { readonly type: "own" };

interface SettingRow {
  /** Path below `settings` in the config file, and name of the setting in the database and the audit log. */
  readonly path: string;
  readonly kind: SettingKind;
  /** Default value. null: none. */
  readonly default: unknown;
  /** For the schema, the API description and docs/configuration.md; its links are relative to the latter. */
  readonly help: string;
  /** Takes effect only when the gateway starts. */
  readonly atStart?: true;
  /** Section of the console's form. null: the form has no generated field for it. */
  readonly form: "retention" | "requests" | "console" | null;
}

function days(min: number, max: number) {
  return { type: "integer", unit: "days", min, max } as const;
}

const daysMax = 36_500;

/** Every setting of the installation. Schemas, storage, export, documents and the console's form are generated from it. */
export const settingsTable = [
  {
    path: "ledger.durability",
    kind: { type: "choice", of: ["process", "disk", "strict", "remote"] },
    default: "disk",
    help: "`process`: survives the end of the process. `disk`: synced within 50 ms. `strict`: synced before the call is sent. `remote`: [in the database](operations/ledger.md#the-journal) before the call is sent; needs PostgreSQL.",
    atStart: true,
    form: "retention",
  },
  {
    path: "ledger.retention_days",
    kind: days(1, daysMax),
    default: 400,
    help: "Older entries are deleted; hourly totals are kept.",
    form: "retention",
  },
  {
    path: "ledger.export",
    kind: { type: "own" },
    default: null,
    help: "`bucket`, `prefix`, `region`, `endpoint`, `format`: the S3-compatible bucket for the [export of the ledger](ledger-export.md): hourly as JSON Lines (`jsonl`, the default), daily in the [FOCUS](focus.md) format (`focus`), or `[jsonl, focus]`. Set its keys in the environment: SLUICE_LEDGER_EXPORT_ACCESS_KEY_ID and SLUICE_LEDGER_EXPORT_SECRET_ACCESS_KEY.",
    form: null,
  },
  {
    path: "explanations.retention_days",
    kind: days(1, daysMax),
    default: 30,
    help: "[Explanations of requests](request-details.md#explained-requests) are deleted after this time, at the latest with their ledger entries.",
    form: "retention",
  },
  {
    path: "captures.retention_days",
    kind: days(1, 365),
    default: 7,
    help: "[Captured headers and bodies](request-details.md#captured-requests) of keys with `capture` are deleted after this time. At most 365.",
    form: "retention",
  },
  {
    path: "audit.retention_days",
    kind: days(90, daysMax),
    default: 3_650,
    help: "Older entries of the audit log are deleted. At least 90, so that recent entries cannot be deleted by shortening it.",
    form: "retention",
  },
  {
    path: "disconnect.default",
    kind: { type: "choice", of: ["cancel", "drain"] },
    default: "cancel",
    help: "Action when the caller disconnects, for providers without a setting for it: `cancel` stops the upstream request, `drain` reads it to the end.",
    form: "requests",
  },
  {
    path: "drain_timeout_ms",
    kind: { type: "integer", unit: "milliseconds", min: 1, max: 86_400_000 },
    default: 120_000,
    help: "How long running streams may continue after SIGTERM.",
    form: "requests",
  },
  {
    path: "keys.stale_max",
    kind: { type: "integer", unit: "seconds", min: 10, max: 86_400 },
    default: 3_600,
    help: "Seconds, 10 to 86400. How long cached keys keep working [while PostgreSQL is unreachable](operations/databases.md#while-postgresql-is-unreachable), even if they are revoked meanwhile.",
    form: "requests",
  },
  {
    path: "retry_sent",
    kind: { type: "boolean" },
    default: false,
    help: "`true`: a call that was sent but not answered (a timeout, a broken connection) is retried on the next deployment, although [both may be charged](retries.md#retries).",
    form: "requests",
  },
  {
    path: "video.copy_results",
    kind: { type: "boolean" },
    default: false,
    help: "Copy finished videos into the [blob store](operations/capacity.md#blobs), so that they stay available after the vendor's link expires.",
    form: "requests",
  },
  {
    path: "files.workspace_gigabytes",
    kind: { type: "integer", unit: "gigabytes", min: 0, max: 1_000_000 },
    default: 50,
    help: "How many gigabytes the [files](guides/files.md) of each workspace may have in all. 0: no files can be uploaded.",
    form: "requests",
  },
  {
    path: "unpriced",
    kind: { type: "own" },
    default: "block_in_budgets",
    help: "Policy for calls to [models without a price](prices.md#models-without-a-price): `block_in_budgets` refuses calls that a budget would count and serves others at zero, `block` refuses all, `allow` serves all at zero, `{ price_as: <model> }` charges another model's price. The demo is always served.",
    form: null,
  },
  {
    path: "console.name",
    kind: { type: "text", max: 40 },
    default: "",
    help: "Name of the product in the console, on the sign-in page and in mails. At most 40 characters. Empty: Sluice.",
    form: "console",
  },
  {
    path: "console.accent",
    kind: { type: "color" },
    default: "",
    help: "Accent color of the console, such as `#7048e8`. The console makes it lighter or darker where texts would be hard to read (WCAG AA). Empty: teal.",
    form: "console",
  },
  {
    path: "console.logo",
    kind: { type: "logo" },
    default: "",
    help: "Logo of the console and of the sign-in page: a PNG image as a data URL (`data:image/png;base64,…`), at most 24 KB and 1024 pixels wide and high. The console also accepts SVG, JPEG and WebP files, and converts them. Empty: the product's own.",
    form: "console",
  },
  {
    path: "console.announcement",
    kind: { type: "text", max: 500, lines: true },
    default: "",
    help: "A notice for everyone who uses the console, at the top of every page. At most 500 characters. Empty: none.",
    form: "console",
  },
  {
    path: "log_bodies",
    kind: { type: "choice", of: ["none"] },
    default: "none",
    help: "Bodies are stored only for keys with `capture: bodies`.",
    form: null,
  },
] as const satisfies readonly SettingRow[];

type Row = (typeof settingsTable)[number];
export type SettingPath = Row["path"];

type ValueOf<One, Own> = One extends { kind: { type: "integer" } }
  ? number
  : One extends { kind: { type: "text" | "color" | "logo" } }
    ? string
    : One extends { kind: { type: "boolean" } }
      ? boolean
      : One extends { kind: { type: "choice"; of: readonly (infer Choice)[] } }
        ? Choice
        : One extends { path: infer Path }
          ? Own[Path & keyof Own]
          : never;

/** Every setting by its path, with defaults. `Own`: the types of settings with a separate schema. */
export type SettingValues<Own> = {
  readonly [One in Row as One["path"]]: ValueOf<One, Own> | (One["default"] & null);
};

export const settingDefaults = Object.fromEntries(settingsTable.map((row) => [row.path, row.default])) as {
  readonly [One in Row as One["path"]]: One["default"];
};

/** Settings nested as in the config file. Each may be left out. */
export type NestedSettings<Values> = {
  [Path in keyof Values as Path extends `${string}.${string}` ? never : Path]?: Values[Path] | undefined;
} & {
  [Path in keyof Values as Path extends `${infer Field}.${string}` ? Field : never]?:
    | (Path extends `${infer Field}.${string}` ? InnerSettings<Values, Field> : never)
    | undefined;
};

type InnerSettings<Values, Field extends string> = {
  [Path in keyof Values as Path extends `${Field}.${infer Inner}` ? Inner : never]?: Values[Path] | undefined;
};

/** The value at a path of nested settings. undefined: not set. */
export function settingAt(settings: object, path: string): unknown {
  return path.split(".").reduce<unknown>((part, step) => (part as Fields | null | undefined)?.[step], settings);
}

type Fields = Record<string, unknown>;

/** Values by their paths, nested. */
export function nestedSettings(values: Iterable<readonly [path: string, value: unknown]>): Fields {
  const settings: Fields = {};
  for (const [path, value] of values) {
    const [field, inner] = path.split(".") as [string, string?];
    settings[field] = inner === undefined ? value : { ...(settings[field] as Fields | undefined), [inner]: value };
  }
  return settings;
}

/** The help text, with when the setting takes effect. */
export function settingHelp({ help, atStart }: SettingRow): string {
  return atStart === true ? `${help} Takes effect after a restart.` : help;
}

/** As a table of docs/configuration.md. */
export function settingsDocument(): string {
  const lines = settingsTable.map((row) => {
    const value = row.default === null ? "–" : `\`${row.default}\``;
    return `| \`${row.path}\` | ${value} | ${settingHelp(row)} |`;
  });
  return ["| key | default | meaning |", "|---|---|---|", ...lines].join("\n");
}
