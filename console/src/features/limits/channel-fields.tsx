import { Input, SegmentedControl, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/limits.ts";
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
    <Input.Wrapper label={t("limits.tells")} labelElement="div">
      <Stack gap="xs" mt={4}>
        <SegmentedControl
          aria-label={t("limits.wayToTell")}
          className="fit"
          data={[
            { value: "email", label: "By e-mail" },
            { value: "webhook", label: t("limits.byWebhook") },
          ]}
          value={draft.kind}
          onChange={(kind) => onChange({ kind: kind === "webhook" ? "webhook" : "email" })}
        />
        {draft.kind === "email" ? (
          <TagsInput
            label={t("limits.eMailAddresses")}
            placeholder={draft.to.length === 0 ? t("limits.financeExampleCom") : ""}
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
            label={t("limits.address")}
            description={t("limits.slackMattermostDiscordOrA")}
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
            {t("limits.thisGatewayHasNoMail")}
          </Text>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
