import { type BodyInput, type ConsoleProvider, type ProviderKindForm, providerSchema } from "@sluice/contract";
import { t } from "../../language/areas/catalog.ts";
import { usesApiKey } from "./auth-choice.ts";
import type { Faults } from "./use-faults.ts";

type Field = ProviderKindForm["fields"][number];
type Timeouts = ConsoleProvider["timeouts"];
export type SettingValue = string | number | boolean | readonly string[];

/** The placeholder of a stored secret; sending it keeps the secret. */
export const redacted = "[redacted]";

/** A secret is write-only: keep the stored one, replace it, or remove it. */
export type SecretDraft = { readonly how: "keep" | "remove" } | { readonly how: "set"; readonly text: string };

/** The state of a provider form. */
export interface ProviderDraft {
  readonly id: string;
  readonly kind: string;
  /** Empty: the default of the provider type. */
  readonly baseUrl: string;
  readonly apiKey: SecretDraft;
  readonly privateNetwork: boolean;
  readonly timeouts: Timeouts;
  /** Empty: according to the settings. */
  readonly disconnect: "" | "cancel" | "drain";
  /** JSON settings are text. Missing settings are unset. */
  readonly settings: Readonly<Record<string, SettingValue>>;
}

/** The draft of a new provider. Its id is the provider type, with a number if that is taken. */
export function newDraft(kind: string, usedIds: readonly string[]): ProviderDraft {
  let id = kind;
  for (let number = 2; usedIds.includes(id); number += 1) id = `${kind}-${number}`;
  return {
    id,
    kind,
    baseUrl: "",
    apiKey: { how: "set", text: "" },
    privateNetwork: false,
    timeouts: {},
    disconnect: "",
    settings: {},
  };
}

export function draftOf(provider: ConsoleProvider, form: ProviderKindForm | null): ProviderDraft {
  return {
    id: provider.id,
    kind: provider.kind,
    baseUrl: provider.base_url === form?.base_url ? "" : provider.base_url,
    apiKey: { how: "keep" },
    privateNetwork: provider.allow_private_network,
    timeouts: provider.timeouts,
    disconnect: provider.disconnect ?? "",
    settings: settingsDraft(provider.settings, form),
  };
}

function settingsDraft(
  settings: ConsoleProvider["settings"],
  form: ProviderKindForm | null,
): ProviderDraft["settings"] {
  const types = new Map((form?.fields ?? []).map((field) => [field.name, field.type]));
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      isPlain(value) && types.get(name) !== "json" ? value : JSON.stringify(value, null, 2),
    ]),
  );
}

function isPlain(value: unknown): value is SettingValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === "string");
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Errors by the gateway's field name. The gateway checks the rest. */
export function draftFaults(
  draft: ProviderDraft,
  form: ProviderKindForm,
  stored: Pick<ConsoleProvider, "id"> | null,
  usedIds: readonly string[] = [],
): Faults {
  const faults: Record<string, string> = {};
  const tell = (field: string, fault: string | null) => {
    if (fault !== null) faults[field] = fault;
  };
  const isNew = stored === null;
  if (isNew) tell("id", idFault(draft.id, usedIds));
  tell("base_url", addressFault(draft, form));
  const needsKey = form.api_key === "required" && usesApiKey(form, draft.settings);
  if (draft.apiKey.how === "set" && draft.apiKey.text === "" && (!isNew || needsKey)) {
    tell("api_key", t("catalog.provider.apiKeyMissing"));
  }
  for (const field of form.fields) tell(`settings.${field.name}`, settingFault(draft, field, isNew));
  return faults;
}

function idFault(id: string, usedIds: readonly string[]): string | null {
  if (id === "") return t("catalog.provider.nameMissing");
  if (!providerSchema.shape.id.safeParse(id).success) return t("catalog.provider.nameWrong");
  return usedIds.includes(id) ? t("catalog.provider.nameExists") : null;
}

function addressFault({ baseUrl }: ProviderDraft, form: ProviderKindForm): string | null {
  const address = baseUrl.trim();
  if (address === "") return needsAddress(form) ? t("catalog.provider.baseUrlMissing") : null;
  return providerSchema.shape.base_url.safeParse(address).success ? null : t("catalog.provider.baseUrlWrong");
}

function settingFault({ settings }: ProviderDraft, field: Field, isNew: boolean): string | null {
  const { label } = field;
  const value = settings[field.name];
  if (field.required && (value === undefined || value === "")) return t("catalog.provider.settingMissing", { label });
  if (!isNew && field.type === "secret" && value === "") return t("catalog.provider.secretMissing", { label });
  return field.type === "json" && jsonOf(value) === invalid ? t("catalog.provider.notJson") : null;
}

/** Whether a base URL is required: the type has no default, and no setting determines it. */
export function needsAddress({ base_url, fields }: Pick<ProviderKindForm, "base_url" | "fields">): boolean {
  return base_url === null && !fields.some(({ name }) => addressSettings.has(name));
}

const addressSettings: ReadonlySet<string> = new Set(["region", "location", "resource"]);

export function createBody(draft: ProviderDraft, form: ProviderKindForm): BodyInput<"providers.create"> {
  const settings = settingsBody(draft, form);
  const { apiKey } = draft;
  return {
    id: draft.id,
    kind: draft.kind,
    ...(draft.baseUrl === "" ? {} : { base_url: draft.baseUrl.trim() }),
    ...(apiKey.how === "set" && apiKey.text !== "" ? { api_key: apiKey.text.trim() } : {}),
    ...(draft.privateNetwork ? { allow_private_network: true } : {}),
    ...(Object.keys(draft.timeouts).length === 0 ? {} : { timeouts: draft.timeouts }),
    ...(draft.disconnect === "" ? {} : { disconnect: draft.disconnect }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
  };
}

/** Only the fields that differ from the stored provider; empty without changes. */
export function updateBody(
  draft: ProviderDraft,
  provider: ConsoleProvider,
  form: ProviderKindForm | null,
): BodyInput<"providers.update"> & object {
  const before = draftOf(provider, form);
  const { apiKey } = draft;
  const moved = draft.baseUrl.trim() !== before.baseUrl;
  return {
    ...(moved ? { base_url: draft.baseUrl.trim() || null } : {}),
    ...(apiKey.how === "set" ? { api_key: apiKey.text.trim() } : apiKey.how === "remove" ? { api_key: null } : {}),
    ...(draft.privateNetwork === before.privateNetwork ? {} : { allow_private_network: draft.privateNetwork }),
    ...(sameJson(draft.timeouts, before.timeouts) ? {} : { timeouts: draft.timeouts }),
    ...(draft.disconnect === before.disconnect ? {} : { disconnect: draft.disconnect || null }),
    ...(form === null || sameJson(draft.settings, before.settings) ? {} : { settings: settingsBody(draft, form) }),
  };
}

/** Unknown settings are not sent, because they would be refused; only their stored secrets are. */
function settingsBody(draft: ProviderDraft, form: ProviderKindForm): Record<string, unknown> {
  const fields = new Map(form.fields.map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(draft.settings).flatMap(([name, value]) => {
      const field = fields.get(name);
      if (value === redacted) return [[name, value]];
      if (field === undefined || isEmpty(value)) return [];
      return [[name, field.type === "json" ? jsonOf(value) : value]];
    }),
  );
}

function isEmpty(value: SettingValue): boolean {
  return value === "" || (Array.isArray(value) && value.length === 0);
}

const invalid = Symbol("invalid");

function jsonOf(value: SettingValue | undefined): unknown {
  if (value === undefined || value === "" || value === redacted) return undefined;
  try {
    return JSON.parse(String(value));
  } catch {
    return invalid;
  }
}

function sameJson(one: object, other: object): boolean {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

/** A copy with one setting changed. undefined removes it. */
export function withSetting(
  settings: ProviderDraft["settings"],
  field: Pick<Field, "name">,
  value: SettingValue | undefined,
): ProviderDraft["settings"] {
  const { [field.name]: _, ...rest } = settings;
  return value === undefined ? rest : { ...rest, [field.name]: value };
}

/** Whether an address looks private: the gateway refuses those unless the provider allows them. */
export function isPrivateAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return (
    /^(localhost|0\.0\.0\.0|::1)$|\.(localhost|local|internal|lan|home\.arpa)$/.test(host) ||
    /^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\./.test(host) ||
    /^f[cd][0-9a-f]{2}:|^fe80:/.test(host) ||
    // A host name without dots belongs to a local network.
    /^[a-z][a-z0-9-]*$/.test(host)
  );
}
