import { Button, Stack, Text, Textarea } from "@mantine/core";
import { everyWorkspace, type GuardrailTestResult, guardrailTestCharsMax } from "@sluice/contract";
import { personalDataTypes } from "@sluice/contract/words";
import { Fragment, type ReactNode, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { checkBlockedBy, checkOf, type GuardrailDraft } from "./guardrail-draft.ts";

/** Tries the check of a form on a text. */
export function TryBox({ draft }: { readonly draft: GuardrailDraft }) {
  const [text, setText] = useState("");
  const [tried, setTried] = useState({ text: "", check: "" });
  const attempt = useAct("guardrails.test", { inline: true });
  const blocked = checkBlockedBy(draft);
  const check = checkOf(draft);
  const run = () => {
    setTried({ text, check: JSON.stringify(check) });
    attempt.mutate({ params: { workspace: draft.workspace ?? everyWorkspace }, body: { text, check } });
  };
  const isOld = tried.text !== text || tried.check !== JSON.stringify(check);
  return (
    <Stack gap="sm">
      <Textarea
        label={t("guardrails.try.text")}
        description={t("guardrails.try.help")}
        placeholder={t("guardrails.try.placeholder")}
        autosize
        minRows={3}
        maxRows={10}
        maxLength={guardrailTestCharsMax}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {blocked !== null && (
        <Text size="xs" c="dimmed">
          {blocked}
        </Text>
      )}
      <Button
        variant="default"
        className="fit"
        loading={attempt.isPending}
        disabled={text === "" || blocked !== null}
        onClick={run}
      >
        {t("guardrails.try.run")}
      </Button>
      {attempt.error !== null && <ProblemAlert problem={attempt.error} />}
      <div role="status">
        {attempt.data !== undefined && (
          <>
            {isOld && (
              <Text size="xs" c="dimmed" mb="xs">
                {t("guardrails.try.old")}
              </Text>
            )}
            <Result text={tried.text} result={attempt.data} />
          </>
        )}
      </div>
    </Stack>
  );
}

interface ResultProps {
  readonly text: string;
  readonly result: GuardrailTestResult;
}

function Result({ text, result: { findings, total, masked } }: ResultProps) {
  if (total === 0) return <Text size="sm">{t("guardrails.try.none")}</Text>;
  const pieces: ReactNode[] = [];
  let from = 0;
  for (const { type, start, end } of findings) {
    pieces.push(
      <Fragment key={start}>
        {text.slice(from, start)}
        <mark className="finding">
          {text.slice(start, end)}
          <span className="finding-type">{typeWords(type)}</span>
        </mark>
      </Fragment>,
    );
    from = end;
  }
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {t("guardrails.try.found", { count: total })}
      </Text>
      <pre className="tried-text">
        {pieces}
        {text.slice(from)}
      </pre>
      <Text size="sm" fw={600}>
        {t("guardrails.try.masked")}
      </Text>
      <pre className="tried-text">{masked}</pre>
    </Stack>
  );
}

/** The name of a type of personal data; patterns and credentials have their own names. */
function typeWords(type: string): string {
  const personal = personalDataTypes.find((each) => each === type);
  return personal === undefined ? type : t(`guardrails.types.${personal}`);
}
