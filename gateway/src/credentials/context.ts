import { type CallSignal, Failure, type HeaderReader } from "#core/index.ts";
import type { Clock, OutboundMethod, OutboundNetwork, Transport, Workload } from "#ports/index.ts";
import { noIdentity } from "./unusable.ts";

/** A request to an issuer of credentials or a store of secrets. */
export interface IssuerRequest {
  /** The step, for messages: "AWS STS", "the instance metadata service". */
  readonly to: string;
  readonly method?: OutboundMethod;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * `machine`: the machine's own credential service, which may be at a metadata address and is never behind a proxy.
   * `operator`: the address is from the environment and may be private. Never use them for an address from settings.
   */
  readonly reach?: "machine" | "operator";
}

export interface IssuerAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly text: string;
}

/** The effects of a credential scheme. */
export interface CredentialContext {
  readonly workload: Workload;
  /** The account has its own certificate authorities. */
  readonly trustsOthers: boolean;
  /** Unix milliseconds. */
  now(): number;
  /** Throws the Failure `noIdentity` if there is no answer. Answers of every status are returned. */
  send(request: IssuerRequest): Promise<IssuerAnswer>;
}

interface ContextOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly workload: Workload;
  /** The account's network settings. */
  readonly network?: OutboundNetwork | undefined;
  readonly mayReachPrivate?: (url: string) => boolean;
  readonly signal: CallSignal;
}

export function credentialContext(options: ContextOptions): CredentialContext {
  const { transport, clock, workload, network, mayReachPrivate = () => false, signal } = options;
  return {
    workload,
    trustsOthers: network?.authorities !== undefined,
    now: () => clock.now(),
    async send({ to, method = "GET", url, headers = {}, body, reach }) {
      const isMachine = reach === "machine";
      try {
        const answer = await transport.send(
          {
            method,
            url,
            headers: { accept: "*/*", "user-agent": "sluice", ...headers },
            body: body === undefined ? null : encoder.encode(body),
            ...(isMachine ? machineTimeouts : timeouts),
            allowPrivateNetwork: reach !== undefined || mayReachPrivate(url),
            ...(isMachine ? { machine: true, network: direct } : { network }),
          },
          signal,
        );
        const bytes = await answer.body.readAll(answerBytesMax, "total", timeouts.headersMs);
        return { status: answer.status, headers: answer.headers, text: decoder.decode(bytes) };
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown;
        throw noIdentity(`The gateway got no credential, because ${to} did not answer: ${thrown.message}`, thrown);
      }
    },
  };
}

/** Issuers answer within a second; calls wait for them. */
const timeouts = { connectMs: 5_000, headersMs: 10_000, totalMs: 15_000 };
/** The service is on this machine; where there is none, nothing answers. */
const machineTimeouts = { connectMs: 1_000, headersMs: 5_000, totalMs: 6_000 };
const direct: OutboundNetwork = Object.freeze({ id: "machine", proxy: null });
const answerBytesMax = 256 * 1024;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
