import { Alert, Select, Stack } from "@mantine/core";
import { useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { Facts } from "../../../components/facts.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/agents.ts";
import { textOf } from "./settings-draft.ts";

const whyWords = { key: "agents.byKey", rules: "agents.byRules", first_sign_in: "agents.byFirst" } as const;

/** The settings that a member's agents get in this workspace, and the group they come from. */
export function PreviewSection({ workspace }: { readonly workspace: string }) {
  const [person, setPerson] = useState<string | null>(null);
  const members = useCall("members.list", { params: { workspace } });
  const query = useCall("agents.previewSettings", {
    params: { workspace },
    query: { person: person ?? "" },
    enabled: person !== null,
    keepBefore: true,
  });
  const preview = person === null ? undefined : query.data;
  return (
    <Section title={t("agents.preview")} description={t("agents.previewHelp")}>
      <Stack>
        <Select
          label={t("agents.person")}
          placeholder={t("agents.choosePerson")}
          data={members.data?.data.map(({ id, email }) => ({ value: id, label: email })) ?? []}
          value={person}
          onChange={setPerson}
          searchable
          clearable
          limit={50}
          maw={420}
        />
        {query.error !== null && person !== null && <ProblemAlert problem={query.error} />}
        {preview !== undefined && (
          <>
            {!preview.may_sign_in && <Alert color="yellow">{t("agents.mayNot")}</Alert>}
            <Facts
              facts={[
                { name: t("agents.group"), value: preview.group.name },
                {
                  name: t("agents.why"),
                  value: t(whyWords[preview.by]),
                  wide: true,
                },
              ]}
            />
            {preview.settings === null ? (
              <Alert color="gray">{t("agents.none")}</Alert>
            ) : (
              <CodeBlock code={textOf(preview.settings)} label={t("agents.preview")} maxHeight="28rem" />
            )}
          </>
        )}
      </Stack>
    </Section>
  );
}
