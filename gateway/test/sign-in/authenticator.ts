import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";

export interface Ceremony {
  /** The origin of the requesting page. */
  readonly origin: string;
  /** User verification, in addition to user presence. */
  readonly userVerified?: boolean;
  readonly rpId?: string;
  readonly counter?: number;
}

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

/** An authenticator in software: one ES256 key, attestation `none` (WebAuthn Level 3, §6 and §8.7). */
export class Authenticator {
  readonly credentialId = randomBytes(32);
  readonly #privateKey: KeyObject;
  readonly #coseKey: Uint8Array;
  #userHandle = "";
  #counter = 0;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    this.#privateKey = privateKey;
    this.#coseKey = map([
      [1, integer(2)],
      [3, integer(-7)],
      [-1, integer(1)],
      [-2, bytes(Buffer.from(x, "base64url"))],
      [-3, bytes(Buffer.from(y, "base64url"))],
    ]);
  }

  /** The result of `navigator.credentials.create`. */
  create(options: CreationOptions, ceremony: Ceremony): object {
    this.#userHandle = options.user.id;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.credentialId.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.credentialId, this.#coseKey]);
    const authData = this.#authData(options.rp.id, ceremony, attested);
    const attestationObject = map([
      ["fmt", text("none")],
      ["attStmt", map([])],
      ["authData", bytes(authData)],
    ]);
    const clientDataJSON = clientData("webauthn.create", options.challenge, ceremony.origin);
    return this.#credential({
      attestationObject: encoded(attestationObject),
      clientDataJSON: encoded(clientDataJSON),
      transports: ["internal"],
    });
  }

  /** The result of `navigator.credentials.get`. */
  get(options: RequestOptions, ceremony: Ceremony): object {
    const authData = this.#authData(options.rpId, ceremony, Buffer.alloc(0));
    const clientDataJSON = clientData("webauthn.get", options.challenge, ceremony.origin);
    const digest = createHash("sha256").update(clientDataJSON).digest();
    const signature = createSign("sha256").update(authData).update(digest).sign(this.#privateKey);
    return this.#credential({
      authenticatorData: encoded(authData),
      clientDataJSON: encoded(clientDataJSON),
      signature: encoded(signature),
      userHandle: this.#userHandle,
    });
  }

  #credential(response: object): object {
    const id = encoded(this.credentialId);
    return { id, rawId: id, type: "public-key", response, clientExtensionResults: {} };
  }

  #authData(rpId: string, ceremony: Ceremony, attested: Uint8Array): Buffer {
    this.#counter = ceremony.counter ?? this.#counter + 1;
    const present = 0x01;
    const verified = (ceremony.userVerified ?? true) ? 0x04 : 0;
    const flags = present | verified | (attested.length > 0 ? 0x40 : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    const rpIdHash = createHash("sha256")
      .update(ceremony.rpId ?? rpId)
      .digest();
    return Buffer.concat([rpIdHash, Buffer.from([flags]), counter, attested]);
  }
}

function clientData(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}

function encoded(data: Uint8Array): string {
  return Buffer.from(data).toString("base64url");
}

// The part of CBOR (RFC 8949 §3) that an authenticator needs.
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
}

function integer(value: number): Buffer {
  return value < 0 ? head(1, -1 - value) : head(0, value);
}

function bytes(value: Uint8Array): Buffer {
  return Buffer.concat([head(2, value.length), value]);
}

function text(value: string): Buffer {
  return Buffer.concat([head(3, value.length), Buffer.from(value)]);
}

function map(entries: readonly (readonly [number | string, Uint8Array])[]): Buffer {
  const pairs = entries.flatMap(([key, value]) => [typeof key === "number" ? integer(key) : text(key), value]);
  return Buffer.concat([head(5, entries.length), ...pairs]);
}
