import { SegmentedControl, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { CodeBlock } from "../../../components/code-block.tsx";
import { JsonView } from "../../../components/json-view.tsx";
import { t } from "../../../language/areas/requests.ts";
import { type AssembledAnswer, assembledAnswer } from "./assembled-answer.ts";
import { jsonOf } from "./json-text.ts";

const views = [
  { value: "answer", label: t("requests.capture.assembled") },
  { value: "raw", label: t("requests.capture.raw") },
];

/** A captured body: JSON as a tree, a stream as its assembled answer with its events a click away, anything else as text. */
export function CapturedText({ text, label }: { readonly text: string; readonly label: string }) {
  const answer = useMemo(() => assembledAnswer(text), [text]);
  const [view, setView] = useState("answer");
  if (answer === null) return <PlainText text={text} label={label} />;
  return (
    <Stack gap="xs" align="stretch">
      <SegmentedControl
        className="fit"
        size="xs"
        aria-label={t("requests.capture.view")}
        data={views}
        value={view}
        onChange={setView}
      />
      {view === "answer" ? <Answer answer={answer} /> : <PlainText text={text} label={label} />}
    </Stack>
  );
}

function PlainText({ text, label }: { readonly text: string; readonly label: string }) {
  const json = jsonOf(text);
  return json === undefined ? (
    <CodeBlock code={text} label={label} wrap maxHeight="28rem" />
  ) : (
    <JsonView value={json} label={label} open={5} />
  );
}

function Answer({ answer: { text, thinking, toolCalls, finish, error, whole } }: { readonly answer: AssembledAnswer }) {
  const empty = text === "" && thinking === "" && toolCalls.length === 0;
  return (
    <Stack gap="xs">
      {thinking !== "" && <Labelled label={t("requests.capture.thinking")} text={thinking} />}
      {text !== "" && <Labelled label={t("requests.capture.text")} text={text} />}
      {toolCalls.map((call) => (
        <div key={`${call.index} ${call.id}`}>
          <Text fz="xs" c="dimmed">
            {t("requests.capture.toolCall", { name: call.name })}
          </Text>
          <PlainText text={call.arguments} label={t("requests.capture.toolCall", { name: call.name })} />
        </div>
      ))}
      {empty && error === null && <Note>{t("requests.capture.nothing")}</Note>}
      {error !== null && <Labelled label={t("requests.capture.error")} text={error} />}
      {!whole && <Note>{t("requests.capture.cut")}</Note>}
      {finish !== null && <Note>{t("requests.capture.finish", { reason: finish })}</Note>}
    </Stack>
  );
}

function Labelled({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div>
      <Text fz="xs" c="dimmed">
        {label}
      </Text>
      <CodeBlock code={text} label={label} wrap maxHeight="28rem" />
    </div>
  );
}

function Note({ children }: { readonly children: string }) {
  return (
    <Text fz="xs" c="dimmed">
      {children}
    </Text>
  );
}
