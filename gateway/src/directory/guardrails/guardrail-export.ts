import type { GuardrailConfig } from "@sluice/contract/config-file";
import { withoutUndefined } from "#core/index.ts";
import type { Row } from "#storage/tables.ts";
import { type GuardrailRow, guardrailRecord } from "./guardrail-rows.ts";

interface ExportedScopes {
  /** By workspace id. */
  readonly slugs: ReadonlyMap<string, string>;
  readonly groups: readonly Pick<Row<"groups">, "id" | "name" | "workspace_id">[];
  readonly keys: readonly Pick<Row<"api_keys">, "id" | "name" | "workspace_id">[];
}

/** Guardrails in the form of the config file, by workspace id; null: of the installation. `variable` names one for a secret. */
export function guardrailConfigs(
  rows: readonly GuardrailRow[],
  { slugs, groups, keys }: ExportedScopes,
  variable: (name: string) => string,
): ReadonlyMap<string | null, GuardrailConfig[]> {
  const namesBy = (nameOf: (item: ExportedScopes["groups"][number]) => string): Names => ({
    workspaces: slugs,
    groups: new Map(groups.map((group) => [group.id, nameOf(group)])),
    keys: new Map(keys.map((key) => [key.id, nameOf(key)])),
  });
  const qualified = namesBy(({ workspace_id, name }) => `${slugs.get(workspace_id)}/${name}`);
  const plain = namesBy(({ name }) => name);
  const configs = new Map<string | null, GuardrailConfig[]>();
  for (const row of rows) {
    const { workspace_id: home } = row;
    const slug = home === null ? "" : `${slugs.get(home)}_`;
    const config = guardrailConfig(row, home === null ? qualified : plain, variable(`${slug}${row.name}_secret`));
    configs.set(home, [...(configs.get(home) ?? []), config]);
  }
  return configs;
}

type Names = Readonly<Record<"workspaces" | "groups" | "keys", ReadonlyMap<string, string>>>;

function guardrailConfig(row: GuardrailRow, named: Names, secret: string): GuardrailConfig {
  const record = guardrailRecord(row);
  const namesOf = (kind: keyof Names) => {
    const names = record[kind].flatMap((id) => named[kind].get(id) ?? []);
    return names.length === 0 ? undefined : names;
  };
  const scope = { workspaces: namesOf("workspaces"), groups: namesOf("groups"), keys: namesOf("keys") };
  const isScoped = record.workspaces.length + record.groups.length + record.keys.length > 0;
  // Without any name it would apply to every call.
  const isLost = isScoped && Object.values(scope).every((names) => names === undefined);
  const { name, on, at, check, action, on_error, unreadable, stream, timeout_ms, enforce } = record;
  return withoutUndefined({
    ...{ name, enabled: record.enabled && !isLost ? undefined : false, ...scope },
    ...{ on, at: at ?? undefined, action, on_error, unreadable, stream, timeout_ms, enforce },
    check:
      check.kind === "webhook"
        ? withoutUndefined({ kind: check.kind, url: check.url, secret: check.has_secret ? secret : undefined })
        : check,
  });
}
