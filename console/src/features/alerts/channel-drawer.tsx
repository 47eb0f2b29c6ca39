import { SegmentedControl, Select, Switch, TagsInput, Text, TextInput } from "@mantine/core";
import { type AlertChannel, alertChannelKinds, everyWorkspace } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import type { Problem } from "../../client/problem.ts";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/alerts.ts";
import { isLanguage, language, languages } from "../../language/index.ts";
import { useSession } from "../../session/session-context.tsx";
import {
  type ChannelDraft,
  channelBlockedBy,
  channelBodyOf,
  channelDraftOf,
  channelFaultsOf,
  emptyChannel,
} from "./channel-draft.ts";
import { PlaceSelect } from "./place-select.tsx";

interface ChannelDrawerProps {
  /** null: a new channel. */
  readonly channel: AlertChannel | null;
  /** Where a new channel is created: a slug; null: the installation. */
  readonly place: string | null;
  readonly onClose: () => void;
}

export function ChannelDrawer({ channel, place, onClose }: ChannelDrawerProps) {
  const [draft, setDraft] = useState<ChannelDraft>(() =>
    channel === null ? emptyChannel(place, language) : channelDraftOf(channel),
  );
  const settings = { inline: true, invalidates: ["alertChannels.list"] as const, onDone: onClose };
  const create = useAct("alertChannels.create", { ...settings, done: t("alerts.channels.created") });
  const update = useAct("alertChannels.update", { ...settings, done: t("alerts.channels.saved") });
  const act = channel === null ? create : update;
  const change = (changes: Partial<ChannelDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const submit = () => {
    const workspace = draft.workspace ?? everyWorkspace;
    const body = channelBodyOf(draft);
    if (channel !== null) update.mutate({ params: { workspace, channel: channel.id }, body });
    else if (body.target !== undefined)
      create.mutate({ params: { workspace }, body: { ...body, target: body.target } });
  };
  return (
    <FormDrawer
      opened
      title={channel === null ? t("alerts.channels.create") : t("alerts.channels.editOf", { name: channel.name })}
      verb={channel === null ? t("alerts.channels.create") : t("alerts.channels.save")}
      onClose={onClose}
      onSubmit={submit}
      saving={act.isPending}
      problem={act.error}
      blocked={channelBlockedBy(draft)}
    >
      <TextInput
        label={t("alerts.name")}
        required
        data-autofocus
        maxLength={256}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={wrongField(act.error, "name")}
      />
      {channel === null && <PlaceSelect value={draft.workspace} onChange={(workspace) => change({ workspace })} />}
      <Select
        label={t("alerts.channels.kind")}
        data={alertChannelKinds.map((kind) => ({ value: kind, label: t(`alerts.channels.kinds.${kind}`) }))}
        value={draft.kind}
        onChange={(value) => change({ kind: alertChannelKinds.find((kind) => kind === value) ?? "email" })}
        allowDeselect={false}
      />
      <TargetFields draft={draft} onChange={change} problem={act.error} />
      <Select
        label={t("alerts.channels.language")}
        data={languages.map(({ id, name }) => ({ value: id, label: name }))}
        value={draft.language}
        onChange={(value) => change({ language: isLanguage(value) ? value : language })}
        allowDeselect={false}
      />
      <Switch
        label={t("alerts.enabled")}
        checked={draft.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
    </FormDrawer>
  );
}

interface TargetFieldsProps {
  readonly draft: ChannelDraft;
  readonly onChange: (changes: Partial<ChannelDraft>) => void;
  readonly problem: Problem | null;
}

const urlWords = {
  slack: { help: t("alerts.channels.slackHelp"), example: "https://hooks.slack.com/services/…" },
  teams: { help: t("alerts.channels.teamsHelp"), example: "https://….api.powerplatform.com/…" },
  webhook: { help: t("alerts.channels.webhookHelp"), example: "https://hooks.example.com/alerts" },
} as const;

function TargetFields({ draft, onChange, problem }: TargetFieldsProps) {
  const { user } = useSession();
  // Only administrators may know whether there is a mail server.
  const settings = useCall("settings.show", { enabled: user.administrator });
  const faults = channelFaultsOf(draft);
  const error = wrongField(problem, "target");
  const isStored = draft.storedKind === draft.kind;
  if (draft.kind === "email") {
    return (
      <>
        <TagsInput
          label={t("alerts.channels.addresses")}
          required
          placeholder={draft.to.length === 0 ? t("alerts.channels.addressesPlaceholder") : ""}
          splitChars={[",", " ", ";"]}
          acceptValueOnBlur
          maxTags={20}
          value={[...draft.to]}
          onChange={(to) => onChange({ to })}
          error={faults.to ?? error}
        />
        {settings.data?.mail.configured === false && (
          <Text size="xs" component="p" m={0} className="warn-words">
            {t("alerts.channels.noMail")}
          </Text>
        )}
      </>
    );
  }
  const secret = {
    required: !isStored,
    spellCheck: false,
    autoComplete: "off",
    maxLength: 2_048,
    ...(isStored ? { placeholder: t("alerts.channels.keepUrl") } : {}),
  };
  if (draft.kind === "pagerduty") {
    return (
      <>
        <TextInput
          {...secret}
          label={t("alerts.channels.routingKey")}
          description={t("alerts.channels.routingKeyHelp")}
          value={draft.routingKey}
          onChange={(event) => onChange({ routingKey: event.currentTarget.value })}
          error={faults.routingKey ?? error}
        />
        <SegmentedControl
          aria-label={t("alerts.channels.region")}
          className="fit"
          data={[
            { value: "us", label: "US" },
            { value: "eu", label: "EU" },
          ]}
          value={draft.region}
          onChange={(region) => onChange({ region: region === "eu" ? "eu" : "us" })}
        />
      </>
    );
  }
  const { help, example } = urlWords[draft.kind];
  return (
    <TextInput
      placeholder={example}
      {...secret}
      type="url"
      label={t("alerts.channels.url")}
      description={help}
      value={draft.url}
      onChange={(event) => onChange({ url: event.currentTarget.value })}
      error={faults.url ?? error}
    />
  );
}
