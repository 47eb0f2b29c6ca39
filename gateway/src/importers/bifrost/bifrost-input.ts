import type { ImportSources } from "../import-sources.ts";
import { isLoose, type Loose, objectIn, rowsIn, textIn, textsIn } from "../loose.ts";
import { bifrostCipher } from "./bifrost-cipher.ts";

export const bifrostTables = [
  "config_providers",
  "config_keys",
  "governance_customers",
  "governance_teams",
  "governance_virtual_keys",
  "governance_virtual_key_provider_configs",
  "governance_budgets",
  "governance_rate_limits",
] as const;

export interface BifrostInput extends ImportSources {
  /** config.json. */
  readonly config: Loose;
  readonly tables: Readonly<Record<(typeof bifrostTables)[number], readonly Loose[]>>;
  readonly encryptionKey: string | null;
}

export interface BifrostProvider {
  readonly name: string;
  /** The vendor of its API. */
  readonly vendor: string;
  readonly address: string | null;
  readonly keys: readonly Loose[];
}

/** config.json and the database in one form: rows with the names of config.json, values decrypted. */
export interface Bifrost {
  readonly providers: readonly BifrostProvider[];
  readonly customers: readonly Loose[];
  readonly teams: readonly Loose[];
  readonly virtualKeys: readonly Loose[];
  readonly budgets: readonly Loose[];
  readonly rateLimits: readonly Loose[];
  readonly other: Loose;
  /** An empty list of models allows every model. */
  readonly emptyIsAll: boolean;
}

export function bifrostOf({ config, tables, encryptionKey }: BifrostInput): Bifrost {
  const open = bifrostCipher(encryptionKey);
  const opened = (row: Loose): Loose => {
    if (textIn(row, "encryption_status") !== "encrypted") return row;
    const entries = Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "string" && sealed.test(name) ? open(value) : value,
    ]);
    return Object.fromEntries(entries);
  };
  const governance = objectIn(config, "governance");
  const both = (name: string, table: keyof BifrostInput["tables"]) =>
    merged(rowsIn(governance, name), tables[table], ({ id }) => String(id));
  return {
    providers: merged(fileProviders(config), storedProviders(tables, opened), ({ name }) => name),
    customers: both("customers", "governance_customers"),
    teams: both("teams", "governance_teams"),
    virtualKeys: merged(rowsIn(governance, "virtual_keys"), storedVirtualKeys(tables), ({ id }) => String(id)),
    budgets: both("budgets", "governance_budgets"),
    rateLimits: both("rate_limits", "governance_rate_limits"),
    other: governance,
    emptyIsAll: config["providers"] !== undefined && config["version"] !== 2,
  };
}

/** Bifrost copies its file to the database, where it may change later. */
function merged<Row>(file: readonly Row[], stored: readonly Row[], nameOf: (row: Row) => string): readonly Row[] {
  const names = new Set(stored.map(nameOf));
  return [...file.filter((row) => !names.has(nameOf(row))), ...stored];
}

/** Columns of keys that may be encrypted. */
const sealed = /^(?:value|azure_(?!scopes)|vertex_(?!force)|bedrock_(?!batch)|vllm_url|ollama_url)/;

function fileProviders(config: Loose): readonly BifrostProvider[] {
  return Object.entries(objectIn(config, "providers")).flatMap(([name, value]): BifrostProvider[] => {
    if (!isLoose(value)) return [];
    const keys = rowsIn(value, "keys").map((key) => ({ ...key, ...prefixed(key) }));
    return [providerOf(name, objectIn(value, "network_config"), objectIn(value, "custom_provider_config"), keys)];
  });
}

/** `azure_key_config.endpoint` as `azure_endpoint`, as in the database. */
function prefixed(key: Loose): Loose {
  const names = ["azure", "vertex", "bedrock", "vllm", "ollama"].flatMap((vendor) =>
    Object.entries(objectIn(key, `${vendor}_key_config`)).map(([name, value]) => [`${vendor}_${name}`, value]),
  );
  return Object.fromEntries(names);
}

function storedProviders(tables: BifrostInput["tables"], opened: (row: Loose) => Loose): readonly BifrostProvider[] {
  return tables.config_providers.map((row) => {
    const keys = tables.config_keys.filter((key) => String(key["provider_id"]) === String(row["id"]));
    const own = keys.map(opened).map((key) => ({ ...key, models: textsIn(key, "models_json") }));
    const network = objectIn(row, "network_config_json");
    return providerOf(textIn(row, "name") ?? "", network, objectIn(row, "custom_provider_config_json"), own);
  });
}

function providerOf(name: string, network: Loose, custom: Loose, keys: readonly Loose[]): BifrostProvider {
  return {
    ...{ name, vendor: textIn(custom, "base_provider_type") ?? name, keys },
    address: variableIn(network, "base_url"),
  };
}

function storedVirtualKeys(tables: BifrostInput["tables"]): readonly Loose[] {
  return tables.governance_virtual_keys.map((row) => {
    const configs = tables.governance_virtual_key_provider_configs.filter(
      (each) => each["virtual_key_id"] === row["id"],
    );
    // The digest is enough, so that the value is not decrypted.
    return { ...row, value: null, provider_configs: configs };
  });
}

/** `env.NAME` as `${NAME}`. A value may be an object with `value` or `env_var`. */
export function variableIn(row: Loose, name: string): string | null {
  const cell = row[name];
  const text = isLoose(cell) ? (textIn(cell, "env_var") ?? textIn(cell, "value")) : textIn(row, name);
  const variable = text === null ? null : /^env\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1];
  return variable == null ? text : `\${${variable}}`;
}
