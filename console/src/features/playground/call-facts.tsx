import { Link } from "@tanstack/react-router";
import { formatCount, formatMs, formatUsd } from "../../client/format.ts";
import { t } from "../../language/areas/playground.ts";
import type { Told } from "../media/key-call.ts";
import { type Charge, chargeWords, useCharge } from "../media/use-charge.ts";

interface CallFactsProps {
  readonly workspace: string;
  readonly told: Told;
  readonly totalMs: number | null;
  readonly firstTokenMs?: number | null;
  /** From the response, or else from the ledger. */
  readonly inputTokens?: number | null;
  readonly outputTokens?: number | null;
}

/** Provider, timing and cost of a response, with a link to the request. Unknown facts are left out. */
export function CallFacts(props: CallFactsProps) {
  const { workspace, told, totalMs, firstTokenMs = null, inputTokens = null, outputTokens = null } = props;
  const charge = useCharge(workspace, told.requestId);
  const facts: [name: string, value: string][] = [];
  if (told.provider !== null) facts.push([t("playground.facts.provider"), told.provider]);
  if (told.attempts !== null && told.attempts > 1)
    facts.push([t("playground.facts.attempts"), formatCount(told.attempts)]);
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
      {told.requestId !== null && <RequestLink workspace={workspace} requestId={told.requestId} />}
      {told.warnings !== null && (
        <p className="call-warning">{t("playground.facts.warnings", { warnings: told.warnings })}</p>
      )}
    </div>
  );
}

/** What the ledger has of it; `undefined` while it is not there yet. */
function chargeFacts(charge: Charge | undefined, tokensTold: boolean): [name: string, value: string][] {
  if (charge === undefined) return [[t("playground.facts.cost"), "…"]];
  const used = tokensTold ? [] : charge.used.map(({ label, units }): [string, string] => [label, formatCount(units)]);
  return [...used, [t("playground.facts.cost"), chargeWords(charge, formatUsd)]];
}

interface RequestLinkProps {
  readonly workspace: string;
  readonly requestId: string;
}

/** To why it went as it did; of a refused call too. */
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
