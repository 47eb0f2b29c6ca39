import {
  externalAccountToken,
  metadataToken,
  requireMachine,
  requireVendor,
  serviceAccountToken,
} from "#credentials/index.ts";
import { parseObject } from "#protocols/index.ts";
import type { TokenSource } from "./kind.ts";
import { authField } from "./setting-field.ts";
import { settingText } from "./settings.ts";

export const googleAuthField = authField(
  ["api_key", "metadata"],
  "api_key: a service account's key, an external account (workload identity federation) or an access token. metadata: the service account of the machine, the pod or the Cloud Run service. Default: api_key.",
);

/** null: the api_key is an access token already, which is not JSON. */
export const googleTokens: TokenSource = (provider) => {
  const { baseUrl } = provider;
  if (settingText(provider, "auth") === "metadata") {
    return (context) => {
      requireMachine(context, "google");
      requireVendor(context, baseUrl, googleHosts);
      return metadataToken(context);
    };
  }
  const text = provider.secret?.reveal().trim() ?? "";
  if (!text.startsWith("{")) return null;
  return (context) => {
    const document = parseObject(text) ?? {};
    if (document["type"] !== "external_account") return serviceAccountToken(context, document);
    requireVendor(context, baseUrl, googleHosts);
    return externalAccountToken(context, document);
  };
};

const googleHosts = /(?:^|[.-])aiplatform(?:\.[a-z0-9-]+\.rep)?\.googleapis\.com$/;
