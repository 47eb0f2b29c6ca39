import type { Provider } from "#core/index.ts";
import { type AwsIdentity, awsKeys } from "#credentials/index.ts";
import { storedKeys } from "./aws-shaped.ts";
import type { TokenSource } from "./kind.ts";
import { authField, identityCertificateFields, identityFileField, settingField } from "./setting-field.ts";
import { settingText } from "./settings.ts";

const methods = ["access_key", "default", "web_identity", "container", "instance_role", "roles_anywhere"] as const;

/** The settings of an account without stored keys. */
export const awsAuthFields = {
  auth: authField(
    methods,
    "access_key: the stored key. default: the first that the gateway's environment has, in the order of the AWS SDKs. web_identity: a token file, as for service accounts of EKS. container: ECS or EKS Pod Identity. instance_role: the role of the EC2 instance. roles_anywhere: a certificate. Default: access_key.",
  ),
  more: [
    settingField("role_arn", "Role ARN", {
      help: "The role to assume. Leave empty to use the first credentials themselves.",
      placeholder: "arn:aws:iam::123456789012:role/sluice",
    }),
    settingField("external_id", "External ID", { help: "Only if the role's trust policy requires one." }),
    identityFileField("Leave empty to use AWS_WEB_IDENTITY_TOKEN_FILE.", ["web_identity"]),
    settingField("trust_anchor_arn", "Trust anchor ARN", { auths: ["roles_anywhere"] }),
    settingField("profile_arn", "Profile ARN", { auths: ["roles_anywhere"] }),
    ...identityCertificateFields(["roles_anywhere"]),
  ],
} as const;

/** null: the stored keys sign, or an API key is sent. */
export const awsTokens: TokenSource = (provider) => {
  const identity = awsIdentityOf(provider);
  return identity === null ? null : (context) => awsKeys(identity, context);
};

function awsIdentityOf(provider: Provider): AwsIdentity | null {
  const auth = methodOf(provider);
  const roleArn = settingText(provider, "role_arn");
  if (auth === "access_key" && (roleArn === null || provider.secret !== null)) return null;
  const text = (name: string) => settingText(provider, name);
  const [profileArn, trustAnchorArn] = [text("profile_arn"), text("trust_anchor_arn")];
  const [certificate, privateKey] = [text("identity_certificate"), text("identity_key")];
  const isWhole = profileArn !== null && trustAnchorArn !== null && certificate !== null && privateKey !== null;
  return {
    auth,
    region: text("region") ?? "us-east-1",
    keys: storedKeys(provider),
    roleArn,
    externalId: text("external_id"),
    identityFile: text("identity_file"),
    anywhere: isWhole ? { profileArn, trustAnchorArn, certificate, privateKey } : null,
  };
}

function methodOf(provider: Provider): AwsIdentity["auth"] {
  return methods.find((method) => method === settingText(provider, "auth")) ?? "access_key";
}

/** A problem with the settings of the authentication; null if there is none. */
export function awsAuthProblem(provider: Provider): string | null {
  const roleArn = settingText(provider, "role_arn");
  for (const name of ["role_arn", "profile_arn", "trust_anchor_arn"]) {
    const arn = settingText(provider, name);
    if (arn !== null && !/^arn:aws[\w-]*:[a-z]+:[\w-]*:\d{12}:[\w+=,.@/-]+$/.test(arn)) {
      return `settings.${name} must be an ARN, such as arn:aws:iam::123456789012:role/sluice`;
    }
  }
  if (methodOf(provider) !== "roles_anywhere") return null;
  const needed = ["trust_anchor_arn", "profile_arn", "identity_certificate", "identity_key"];
  const missing = needed.find((name) => settingText(provider, name) === null) ?? (roleArn === null ? "role_arn" : null);
  return missing === null ? null : `settings.${missing} is required for roles_anywhere`;
}
