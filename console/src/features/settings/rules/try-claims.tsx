import { Button, Fieldset, Stack, Text, Textarea } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { wrongField } from "../../../components/form-drawer.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/rules.ts";
import { rules as words } from "../../../language/en/rules.ts";
import { remarks } from "../../../language/remark.ts";
import { grantWords, namesOfRules, type RuleDraft, rulesOf } from "./rule-draft.ts";

interface TryClaimsProps {
  readonly source: string;
  readonly drafts: readonly RuleDraft[];
  /** Shows the errors of the rules; returns whether they can be sent. */
  readonly check: () => boolean;
}

const example = '{ "groups": ["eng-core"], "department": "SRE" }';
const why = remarks(t, "rules.why", words.why);

/** Tests claims against the rules in the form. */
export function TryClaims({ source, drafts, check }: TryClaimsProps) {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState<string | null>(null);
  /** The claims and rules that the result belongs to. */
  const [tried, setTried] = useState<{ readonly text: string; readonly drafts: readonly RuleDraft[] } | null>(null);
  const attempt = useAct("rights.try", { inline: true });
  const run = () => {
    const claims = claimsIn(text);
    setWrong(claims === null ? t("rules.try.wrong", { example }) : null);
    if (claims === null || !check()) return;
    setTried({ text, drafts });
    attempt.mutate({ params: { source }, body: { claims, rules: rulesOf(drafts) } });
  };
  const isOld = tried?.text !== text || tried.drafts !== drafts;
  return (
    <Fieldset legend={t("rules.try.title")}>
      <Stack gap="sm">
        <Textarea
          label={t("rules.try.claims")}
          description={t("rules.try.help")}
          placeholder={example}
          autosize
          minRows={3}
          maxRows={14}
          spellCheck={false}
          className="written"
          error={wrong ?? wrongField(attempt.error, "claims")}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button variant="default" className="fit" loading={attempt.isPending} onClick={run}>
          {t("rules.try.run")}
        </Button>
        <FormProblem problem={attempt.error} />
        {attempt.data !== undefined && (
          <div role="status">
            {isOld && (
              <Text fz="xs" c="dimmed" mb="xs">
                {t("rules.try.old")}
              </Text>
            )}
            <Outcome answer={attempt.data} />
          </div>
        )}
      </Stack>
    </Fieldset>
  );
}

/** The claims in a JSON text. null: it is not a JSON object. */
function claimsIn(text: string): Record<string, unknown> | null {
  try {
    const claims: unknown = JSON.parse(text);
    const isObject = typeof claims === "object" && claims !== null && !Array.isArray(claims);
    return isObject ? (claims as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function Outcome({ answer: { administrator, places, findings } }: { readonly answer: AnswerOf<"rights.try"> }) {
  const grants = [
    ...(administrator === null ? [] : [{ what: t("rules.try.administrator"), rules: administrator }]),
    ...places
      .filter(({ role, group }) => role !== null || group !== null)
      .map((place) => ({ what: grantWords(place), rules: place.rules })),
  ];
  return (
    <Stack gap="xs">
      <Text fz="sm" fw={600}>
        {t("rules.try.result")}
      </Text>
      {grants.length === 0 && <Text fz="sm">{t("rules.try.nothing")}</Text>}
      {grants.map(({ what, rules }) => (
        <Text key={what} fz="sm" className="break">
          {what}{" "}
          <Text span c="dimmed" fz="xs">
            {t("rules.try.by", { rules: namesOfRules(rules) })}
          </Text>
        </Text>
      ))}
      {findings.length > 0 && (
        <Text fz="sm" fw={600}>
          {t("rules.try.why")}
        </Text>
      )}
      {findings.map((finding) => (
        <Finding key={finding.number} finding={finding} />
      ))}
    </Stack>
  );
}

function Finding({ finding }: { readonly finding: AnswerOf<"rights.try">["findings"][number] }) {
  const { number, name, matched, gives } = finding;
  const isGiving = gives.administrator || gives.role !== null || gives.group !== null;
  const label = matched ? (isGiving ? t("rules.try.matched") : t("rules.try.noEffect")) : t("rules.try.noMatch");
  return (
    <div>
      <Text fz="sm" className="break">
        {number}. {name}{" "}
        <StatusBadge
          status={matched ? "matched" : "not_matched"}
          label={label}
          tone={matched ? (isGiving ? "good" : "warn") : "off"}
        />
      </Text>
      <Text fz="xs" c="dimmed" className="break">
        {why(finding.why, finding.why.code)}
      </Text>
    </div>
  );
}
