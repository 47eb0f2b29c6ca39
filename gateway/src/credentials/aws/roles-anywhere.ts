import { createHash, createPrivateKey, sign, X509Certificate } from "node:crypto";
import { arrayOf, objectOf, parseObject, textOf } from "#protocols/index.ts";
import type { CredentialContext } from "../context.ts";
import type { AwsKeys, Issued } from "../issued.ts";
import { unusableCredential } from "../unusable.ts";
import { refused, untilMs } from "./answer.ts";
import { awsEndpoint } from "./sts.ts";

export interface RolesAnywhere {
  readonly region: string;
  readonly roleArn: string;
  readonly profileArn: string;
  readonly trustAnchorArn: string;
  /** PEM: the certificate, then intermediate ones. */
  readonly certificate: string;
  /** PEM. */
  readonly privateKey: string;
}

/**
 * Keys of a role for the holder of a certificate.
 * https://docs.aws.amazon.com/rolesanywhere/latest/userguide/authentication-sign-process.html
 */
export async function rolesAnywhereKeys(context: CredentialContext, options: RolesAnywhere): Promise<Issued<AwsKeys>> {
  const { region, roleArn, profileArn, trustAnchorArn } = options;
  const place = awsEndpoint(context, {
    service: "rolesanywhere",
    variable: "AWS_ENDPOINT_URL_ROLESANYWHERE",
    region,
    path: "/sessions",
  });
  const body = JSON.stringify({ durationSeconds: 3_600, profileArn, roleArn, trustAnchorArn });
  const headers = signedHeaders({ ...options, url: place.url, body, now: context.now() });
  const to = "IAM Roles Anywhere";
  const answer = await context.send({ to, method: "POST", ...place, headers, body });
  const document = parseObject(answer.text) ?? {};
  const keys = objectOf(objectOf(arrayOf(document["credentialSet"])[0])["credentials"]);
  const [accessKeyId, secretAccessKey, sessionToken] = ["accessKeyId", "secretAccessKey", "sessionToken"].map((name) =>
    textOf(keys[name]),
  );
  if (answer.status !== 201 || accessKeyId == null || secretAccessKey == null || sessionToken == null) {
    const code = answer.headers.get("x-amzn-errortype")?.split(":", 1)[0] ?? null;
    throw refused(to, answer.status, code);
  }
  const expiresInMs = untilMs(textOf(keys["expiration"]), context);
  return { credential: { accessKeyId, secretAccessKey, sessionToken }, expiresInMs };
}

interface Signed extends Pick<RolesAnywhere, "region" | "certificate" | "privateKey"> {
  readonly url: string;
  readonly body: string;
  readonly now: number;
}

/** Signature Version 4 with the certificate's key in place of an access key; its serial number is the key id. */
function signedHeaders({ region, certificate, privateKey, url, body, now }: Signed): Record<string, string> {
  const chain = certificate.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const own = readable(() => new X509Certificate(chain[0] ?? ""), "certificate");
  const key = readable(() => createPrivateKey(privateKey), "private key");
  const algorithm = key.asymmetricKeyType === "ec" ? "AWS4-X509-ECDSA-SHA256" : "AWS4-X509-RSA-SHA256";
  const date = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const others = chain.slice(1).map((pem) => derOf(pem));
  const headers: Record<string, string> = {
    "content-type": "application/json",
    host: new URL(url).host,
    "x-amz-date": date,
    "x-amz-x509": own.raw.toString("base64"),
    ...(others.length === 0 ? {} : { "x-amz-x509-chain": others.join(",") }),
  };
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join("");
  const canonical = ["POST", new URL(url).pathname, "", lines, names.join(";"), sha256(body)].join("\n");
  const scope = `${date.slice(0, 8)}/${region}/rolesanywhere/aws4_request`;
  const toSign = [algorithm, date, scope, sha256(canonical)].join("\n");
  const signature = readable(() => sign("sha256", Buffer.from(toSign), key), "private key").toString("hex");
  const serial = BigInt(`0x${own.serialNumber}`).toString();
  const { host: _host, ...sent } = headers;
  return {
    ...sent,
    authorization: `${algorithm} Credential=${serial}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}

/** The error may quote the key. */
function readable<T>(read: () => T, what: string): T {
  try {
    return read();
  } catch {
    throw unusableCredential(`The provider's ${what} for IAM Roles Anywhere cannot be used.`);
  }
}

function derOf(pem: string): string {
  return pem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
