import { guardrailBounds } from "@sluice/contract/words";
import { Secret } from "#core/index.ts";
import { readWebhookVerdict } from "#guardrails/index.ts";
import type { GuardrailServices } from "#relay/index.ts";
import { webhookHeaders } from "#tasks/index.ts";
import { GuardrailEvidence } from "./guardrail-evidence.ts";
import type { Base } from "./open-base.ts";
import type { Data } from "./open-data.ts";
import type { Governance } from "./open-governance.ts";

const answerBytesMax = 1024 * 1024;

const checkMsMax = 20;
/** The first checks of a process compile the code that they use, which takes most of their time. */
const coldChecksMax = 50;
const coldCheckMsMax = 200;

/** The services of guardrails: secrets, webhooks, records. */
export function guardrailServices(base: Base, { journal }: Data, { steady }: Governance): GuardrailServices {
  const { control, metrics, observer, transport, clock, ids, ending } = base;
  const { ledgerStore, instanceId: source } = control;
  const evidence = new GuardrailEvidence({ journal, ledgerStore, metrics, observer, ids, clock: steady, source });
  ending.defer("counts of guardrails", () => evidence.store());
  let coldChecks = coldChecksMax;
  return {
    secretOf: (workspaceId) => control.vault.derive("guardrail placeholders", workspaceId),
    seal: (workspaceId, values) => control.vault.seal(new Secret(values), sealId(workspaceId)),
    unseal(workspaceId, sealed) {
      try {
        return control.vault.open(sealed, sealId(workspaceId)).reveal();
      } catch (thrown) {
        observer.log("warn", "failed to decrypt masked values of a stored answer", { error: thrown });
        return null;
      }
    },
    cpuMs: () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1_000;
    },
    checkMsMax: () => (coldChecks-- > 0 ? coldCheckMsMax : checkMsMax),
    async webhook({ requestId, principal }, { name, check, timeoutMs }, texts, side, signal) {
      if (check.kind !== "webhook") throw new Error("not a webhook");
      const id = ids.next("chk_");
      const { workspace, group, key, person } = principal;
      const caller = { workspace: workspace.slug, group: group.name, key: key.id, person };
      const shown = texts.map(({ place, path, text }) => ({ place, path, text }));
      const body = JSON.stringify({ id, request_id: requestId, guardrail: name, side, ...caller, texts: shown });
      if (Buffer.byteLength(body) > guardrailBounds.webhookBytesMax) throw new Error("the texts are too long");
      const signed = check.secret === null ? {} : webhookHeaders(id, body, [webhookSecret(check.secret)], clock.now());
      const answer = await transport.send(
        {
          method: "POST",
          url: check.url,
          headers: { "content-type": "application/json", "user-agent": "sluice", ...signed },
          body: new TextEncoder().encode(body),
          connectMs: timeoutMs,
          headersMs: timeoutMs,
          totalMs: timeoutMs,
          allowPrivateNetwork: false,
          webhook: true,
        },
        signal,
      );
      if (answer.status !== 200) {
        answer.body.cancel();
        throw new Error(`the webhook answered ${answer.status}`);
      }
      return readWebhookVerdict(await answer.body.readAll(answerBytesMax, "idle", timeoutMs), texts);
    },
    onRecords: (call, records) => evidence.record(call, records),
  };
}

function sealId(workspaceId: string): string {
  return `guardrail values:${workspaceId}`;
}

/** Standard Webhooks has secrets in base64. Others are used as they are. */
function webhookSecret(secret: string): string {
  return secret.startsWith("whsec_") ? secret : `whsec_${Buffer.from(secret).toString("base64")}`;
}
