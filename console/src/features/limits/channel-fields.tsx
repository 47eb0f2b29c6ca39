import { Input, SegmentedControl, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/limits.ts";
import { useSession } from "../../session/session-context.tsx";
import { type AlertDraft, alertFaultsOf } from "./alert-draft.ts";

export interface AlertFieldsProps {
  readonly draft: AlertDraft;
  readonly onChange: (changes: Partial<AlertDraft>) => void;
  readonly problem: Problem | null;
}

/** How the alert is sent. */
export function ChannelFields({ draft, onChange, problem }: AlertFieldsProps) {
  const { user } = useSession();
  // Only administrators may know whether there is a mail server.
  const settings = useCall("settings.show", { enabled: user.administrator });
  const faults = alertFaultsOf(draft);
  const noMail = settings.data?.mail.configured === false;
  return (
    <Input.Wrapper label={t("limits.alert.channel")} labelElement="div">
      <Stack gap="xs" mt={4}>
        <SegmentedControl
          aria-label={t("limits.alert.channelKind")}
          className="fit"
          data={[
            { value: "email", label: t("limits.alert.byEmail") },
            { value: "webhook", label: t("limits.alert.byWebhook") },
          ]}
          value={draft.kind}
          onChange={(kind) => onChange({ kind: kind === "webhook" ? "webhook" : "email" })}
        />
        {draft.kind === "email" ? (
          <TagsInput
            label={t("limits.alert.addresses")}
            required
            placeholder={draft.to.length === 0 ? t("limits.alert.addressesPlaceholder") : ""}
            splitChars={[",", " ", ";"]}
            acceptValueOnBlur
            maxTags={20}
            value={[...draft.to]}
            onChange={(to) => onChange({ to })}
            error={faults.to ?? wrongField(problem, "channel")}
          />
        ) : (
          <TextInput
            type="url"
            label={t("limits.alert.url")}
            required
            description={t("limits.alert.urlHelp")}
            placeholder="https://hooks.example.com/budgets"
            maxLength={2_048}
            spellCheck={false}
            value={draft.url}
            onChange={(event) => onChange({ url: event.currentTarget.value })}
            error={faults.url ?? wrongField(problem, "channel")}
          />
        )}
        {draft.kind === "email" && noMail && (
          <Text size="xs" component="p" m={0} className="warn-words">
            {t("limits.alert.noMail")}
          </Text>
        )}
      </Stack>
    </Input.Wrapper>
  );
}
