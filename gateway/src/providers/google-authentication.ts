import { serviceAccountToken } from "#credentials/index.ts";
import { parseObject } from "#protocols/index.ts";
import type { TokenSource } from "./kind.ts";

/** An api_key that is not JSON is an access token already. */
export const googleTokens: TokenSource = (provider) => {
  const text = provider.secret?.reveal().trim() ?? "";
  if (!text.startsWith("{")) return null;
  return (context) => serviceAccountToken(context, parseObject(text) ?? {});
};
