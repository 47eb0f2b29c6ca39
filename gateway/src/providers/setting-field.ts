/** A setting in the form of a provider type. */
export interface SettingField {
  readonly name: string;
  readonly label: string;
  readonly type: "text" | "secret" | "boolean" | "select" | "list" | "json";
  readonly required: boolean;
  readonly help: string | null;
  readonly placeholder: string | null;
  /** Choices of a select or a list. */
  readonly options: readonly string[] | null;
  /** Only for these choices of `auth`; null: for all. */
  readonly auths: readonly string[] | null;
  /** Changes where requests go: a stored secret must be entered again when it changes. */
  readonly setsDestination: boolean;
}

/** The form of a provider type, in addition to the fields of every provider. */
export interface KindForm {
  readonly baseUrlHelp: string | null;
  readonly apiKey: "required" | "optional" | "none";
  readonly apiKeyHelp: string | null;
  readonly fields: readonly SettingField[];
}

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
    auths: null,
    setsDestination: false,
    ...more,
  };
}

/** An access key that signs requests, with the token of temporary credentials. */
export function signingFields(what: string, auths: SettingField["auths"] = null): readonly SettingField[] {
  return [
    settingField("access_key_id", "Access key ID", { help: `${what} Requires the secret access key.`, auths }),
    settingField("secret_access_key", "Secret access key", { type: "secret", auths }),
    settingField("session_token", "Session token", { type: "secret", help: "Only for temporary credentials.", auths }),
  ];
}

/** How the account proves itself; the first choice is the default. */
export function authField(options: readonly string[], help: string): SettingField {
  return settingField("auth", "Authentication", { type: "select", options, help });
}

/** For tokens that the machine renews, such as a projected service account token of Kubernetes. */
export function identityFileField(help: string, auths: readonly string[]): SettingField {
  return settingField("identity_file", "File with the identity token", {
    help,
    auths,
    placeholder: "/var/run/secrets/tokens/sluice",
  });
}

/** A certificate that proves the account's identity to an issuer of tokens. */
export function identityCertificateFields(auths: readonly string[]): readonly SettingField[] {
  return [
    settingField("identity_certificate", "Identity certificate", {
      help: "PEM: the certificate, then intermediate ones. Requires its key.",
      auths,
    }),
    settingField("identity_key", "Identity key", { type: "secret", help: "PEM, not encrypted.", auths }),
  ];
}

export const betasField = settingField("betas", "Forwarded betas", {
  type: "list",
  help: "Anthropic betas that this account supports; * for all. Leave empty for the defaults.",
  placeholder: "context-1m-2025-08-07",
});
