import type { ImportSources } from "../import-sources.ts";
import { type Loose, objectIn, rowsIn, textIn } from "../loose.ts";
import type { Notes } from "../notes.ts";
import type { LiteLlmCipher } from "./cipher.ts";

/** LiteLLM's tables that are read, without the prefix `LiteLLM_`. A table that is missing has no rows. */
export const liteLlmTables = [
  "VerificationToken",
  "DeprecatedVerificationToken",
  "TeamTable",
  "TeamMembership",
  "UserTable",
  "OrganizationTable",
  "ModelTable",
  "BudgetTable",
  "TagTable",
  "EndUserTable",
  "ProxyModelTable",
  "CredentialsTable",
  "Config",
] as const;

export type LiteLlmTables = Readonly<Record<(typeof liteLlmTables)[number], readonly Loose[]>>;

export interface LiteLlmInput extends ImportSources {
  /** config.yaml. */
  readonly config: Loose;
  readonly tables: LiteLlmTables;
  readonly saltKey: string | null;
}

/** A deployment of config.yaml or the database. */
export interface LiteLlmDeployment {
  readonly model: string;
  readonly params: Loose;
  readonly info: Loose;
  readonly blocked: boolean;
}

/** The sections of config.yaml. Fields in the database replace them. */
export function sectionsOf({ config, tables }: LiteLlmInput) {
  const stored = new Map(tables.Config.map((row) => [textIn(row, "param_name"), objectIn(row, "param_value")]));
  const section = (name: string): Loose => ({ ...objectIn(config, name), ...stored.get(name) });
  return {
    general: section("general_settings"),
    litellm: section("litellm_settings"),
    router: section("router_settings"),
    environment: {
      plain: objectIn(config, "environment_variables"),
      sealed: stored.get("environment_variables") ?? {},
    },
  };
}

/** Values of variables that LiteLLM's configuration sets. */
export function variablesOf(input: LiteLlmInput, cipher: LiteLlmCipher): Readonly<Record<string, string>> {
  const { plain, sealed } = sectionsOf(input).environment;
  const opened = Object.entries(sealed).map(([name, value]) => [
    name,
    typeof value === "string" ? cipher.open(value) : null,
  ]);
  return Object.fromEntries(
    [...Object.entries(plain), ...opened].filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** Deployments of the file, then of the database, with the values of their credentials. */
export function deploymentsOf({ config, tables }: LiteLlmInput, cipher: LiteLlmCipher, notes: Notes) {
  const credentials = new Map<string, Loose>();
  for (const row of rowsIn(config, "credential_list")) {
    credentials.set(textIn(row, "credential_name") ?? "", objectIn(row, "credential_values"));
  }
  for (const row of tables.CredentialsTable) {
    const name = textIn(row, "credential_name") ?? "";
    credentials.set(name, openedIn(objectIn(row, "credential_values"), cipher, `credential ${name}`, notes));
  }
  const own = rowsIn(config, "model_list").map((row): LiteLlmDeployment => {
    const params = objectIn(row, "litellm_params");
    return { model: textIn(row, "model_name") ?? "", params, info: objectIn(row, "model_info"), blocked: false };
  });
  const stored = tables.ProxyModelTable.map((row): LiteLlmDeployment => {
    const model = textIn(row, "model_name") ?? "";
    const params = openedIn(objectIn(row, "litellm_params"), cipher, `model ${model}`, notes);
    return { model, params, info: objectIn(row, "model_info"), blocked: row["blocked"] === true };
  });
  return [...own, ...stored].map((deployment) => {
    const credential = credentials.get(textIn(deployment.params, "litellm_credential_name") ?? "") ?? {};
    return { ...deployment, params: { ...credential, ...deployment.params } };
  });
}

function openedIn(values: Loose, cipher: LiteLlmCipher, object: string, notes: Notes): Loose {
  const entries = Object.entries(values).map(([name, value]) => {
    if (typeof value !== "string") return [name, value];
    const opened = cipher.open(value);
    if (opened === null) notes.add(`${name} of ${object}`, "it was encrypted with another salt key");
    return [name, opened];
  });
  return Object.fromEntries(entries);
}
