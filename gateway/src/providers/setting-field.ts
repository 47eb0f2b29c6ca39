/** One setting of a kind, as a form asks for it. */
export interface SettingField {
  /** Its key in `settings`. */
  readonly name: string;
  readonly label: string;
  readonly type: "text" | "secret" | "number" | "boolean" | "select" | "list" | "json";
  readonly required: boolean;
  readonly help: string | null;
  readonly placeholder: string | null;
  /** What may be chosen, of a select or a list. */
  readonly options: readonly string[] | null;
  /** It says where requests go, so that a stored secret does not follow when it changes. */
  readonly leads: boolean;
}

/** The form for providers of one kind: what it asks in addition to the fields of every provider. */
export interface KindForm {
  readonly baseUrlHelp: string | null;
  readonly apiKey: "required" | "optional" | "none";
  /** What the key is and where it is made. */
  readonly apiKeyHelp: string | null;
  readonly fields: readonly SettingField[];
}

/** A field with what is usual left out. */
export function settingField(
  name: string,
  label: string,
  more: Partial<Omit<SettingField, "name" | "label">> = {},
): SettingField {
  return {
    name,
    label,
    type: "text",
    required: false,
    help: null,
    placeholder: null,
    options: null,
    leads: false,
    ...more,
  };
}

/** A pair of keys with which a cloud's requests are signed, and what goes with a temporary one. */
export function signingFields(what: string): readonly SettingField[] {
  return [
    settingField("access_key_id", "Access key ID", { help: `${what} Goes together with the secret access key.` }),
    settingField("secret_access_key", "Secret access key", { type: "secret" }),
    settingField("session_token", "Session token", { type: "secret", help: "Of temporary credentials only." }),
  ];
}

/** Betas of Anthropic's that a cloud takes. */
export const betasField = settingField("betas", "Forwarded betas", {
  type: "list",
  help: "Names of Anthropic's betas that this account takes; * for all. Leave it empty for the usual ones.",
  placeholder: "context-1m-2025-08-07",
});
