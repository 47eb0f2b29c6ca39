import { Input, SegmentedControl, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { useSession } from "../../session/session-context.tsx";
import type { NoticeDraft } from "./notice-draft.ts";

export interface NoticeFieldsProps {
  readonly draft: NoticeDraft;
  readonly onChange: (changes: Partial<NoticeDraft>) => void;
  readonly problem: Problem | null;
}

/** By which way somebody is told. */
export function ChannelFields({ draft, onChange, problem }: NoticeFieldsProps) {
  const { user } = useSession();
  // Whether there is a mail server is for administrators to know.
  const settings = useCall("settings.show", { enabled: user.administrator });
  const noMail = settings.data?.mail.configured === false;
  return (
    <Input.Wrapper label="Tells" labelElement="div">
      <Stack gap="xs" mt={4}>
        <SegmentedControl
          aria-label="Way to tell"
          className="fit"
          data={[
            { value: "email", label: "By e-mail" },
            { value: "webhook", label: "By webhook" },
          ]}
          value={draft.kind}
          onChange={(kind) => onChange({ kind: kind === "webhook" ? "webhook" : "email" })}
        />
        {draft.kind === "email" ? (
          <TagsInput
            label="E-mail addresses"
            placeholder={draft.to.length === 0 ? "finance@example.com" : ""}
            splitChars={[",", " ", ";"]}
            acceptValueOnBlur
            maxTags={20}
            value={[...draft.to]}
            onChange={(to) => onChange({ to })}
            error={wrongField(problem, "channel")}
          />
        ) : (
          <TextInput
            type="url"
            label="Address"
            description="Slack, Mattermost, Discord, or a program of yours. It gets a POST with JSON, signed with the workspace's webhook secret."
            placeholder="https://hooks.example.com/budgets"
            maxLength={2_048}
            spellCheck={false}
            value={draft.url}
            onChange={(event) => onChange({ url: event.currentTarget.value })}
            error={wrongField(problem, "channel")}
          />
        )}
        {draft.kind === "email" && noMail && (
          <Text size="xs" component="p" m={0} className="warn-words">
            This gateway has no mail server yet, so nothing would be sent. Set SLUICE_SMTP_URL, or choose a webhook.
          </Text>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
