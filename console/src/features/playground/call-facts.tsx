import { Link } from "@tanstack/react-router";
import { formatCount, formatMs, formatUsd } from "../../client/format.ts";
import { t } from "../../language/areas/playground.ts";
import type { CallInfo } from "../media/key-call.ts";
import { type Charge, chargeWords, useCharge } from "../media/use-charge.ts";

interface CallFactsProps {
  readonly workspace: string;
  readonly info: CallInfo;
  readonly totalMs: number | null;
  readonly firstTokenMs?: number | null;
  /** From the response, or else from the ledger. */
  readonly inputTokens?: number | null;
  readonly outputTokens?: number | null;
}

/** Provider, timing and cost of a response, with a link to the request. Unknown facts are left out. */
export function CallFacts(props: CallFactsProps) {
  const { workspace, info, totalMs, firstTokenMs = null, inputTokens = null, outputTokens = null } = props;
  const charge = useCharge(workspace, info.requestId);
  const facts: [name: string, value: string][] = [];
  if (info.provider !== null) facts.push([t("playground.facts.provider"), info.provider]);
  if (info.attempts !== null && info.attempts > 1)
    facts.push([t("playground.facts.attempts"), formatCount(info.attempts)]);
  if (firstTokenMs !== null) facts.push([t("playground.facts.firstToken"), formatMs(firstTokenMs)]);
  if (totalMs !== null) facts.push([t("playground.facts.total"), formatMs(totalMs)]);
  if (inputTokens !== null) facts.push([t("playground.facts.inputTokens"), formatCount(inputTokens)]);
  if (outputTokens !== null) facts.push([t("playground.facts.outputTokens"), formatCount(outputTokens)]);
  if (charge !== null) facts.push(...chargeFacts(charge, inputTokens !== null || outputTokens !== null));
  return (
    <div className="call-facts">
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {info.requestId !== null && <RequestLink workspace={workspace} requestId={info.requestId} />}
      {info.warnings !== null && (
        <p className="call-warning">{t("playground.facts.warnings", { warnings: info.warnings })}</p>
      )}
    </div>
  );
}

/** Facts from the ledger; `undefined` until they are stored. */
function chargeFacts(charge: Charge | undefined, tokensTold: boolean): [name: string, value: string][] {
  if (charge === undefined) return [[t("playground.facts.cost"), "…"]];
  const used = tokensTold ? [] : charge.used.map(({ label, units }): [string, string] => [label, formatCount(units)]);
  return [...used, [t("playground.facts.cost"), chargeWords(charge, formatUsd)]];
}

interface RequestLinkProps {
  readonly workspace: string;
  readonly requestId: string;
}

/** A link to the explanation of the request, also for a refused one. */
export function RequestLink({ workspace, requestId }: RequestLinkProps) {
  return (
    <Link
      className="text-link fit"
      to="/requests/$request"
      params={{ request: requestId }}
      search={{ workspace }}
      title={requestId}
    >
      {t("playground.facts.request")}
    </Link>
  );
}
