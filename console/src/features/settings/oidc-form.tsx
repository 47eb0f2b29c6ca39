import { Alert, PasswordInput, Stack, Switch, TagsInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { FormDrawer, wrongField } from "../../components/form-drawer.tsx";
import { t } from "../../language/areas/settings.ts";
import { useSession } from "../../session/session-context.tsx";
import {
  blockedBy,
  bodyOf,
  callbackUrl,
  domainsOf,
  draftOf,
  idProblem,
  type OidcAccount,
  type OidcDraft,
} from "./oidc-draft.ts";

interface OidcFormProps {
  /** null: a new one. */
  readonly account: OidcAccount | null;
  readonly taken: readonly OidcAccount[];
  readonly onClose: () => void;
}

/** What the issuer must be told comes first, what it tells us after. */
export function OidcForm({ account, taken, onClose }: OidcFormProps) {
  const { answer } = useSession();
  const [draft, setDraft] = useState<OidcDraft>(() => draftOf(account));
  const save = useAct("settings.putOidc", {
    inline: true,
    invalidates: ["settings.show", "session.show"],
    done: account === null ? t("settings.accountAddedItStandsOn") : t("settings.accountChanged"),
    onDone: onClose,
  });
  const change = (changes: Partial<OidcDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const wrong = (field: string) => wrongField(save.error, field);
  const callback = account?.callback_url ?? callbackUrl(answer.public_url, draft.id);
  const issuerChanged = account !== null && draft.issuer.trim() !== account.issuer;
  return (
    <FormDrawer
      opened
      title={account === null ? t("settings.addSingleSignOn") : account.name}
      verb={account === null ? t("settings.addAccount") : t("settings.saveAccount")}
      onClose={onClose}
      onSubmit={() => save.mutate({ params: { account: draft.id }, body: bodyOf(draft) })}
      saving={save.isPending}
      problem={save.error}
      blocked={blockedBy(draft, account, taken)}
    >
      <TextInput
        label={t("settings.name")}
        description={t("settings.onTheButtonOfThe")}
        placeholder={t("settings.google")}
        required
        withAsterisk={false}
        data-autofocus
        maxLength={256}
        error={wrong("name")}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <TextInput
        label={t("settings.id")}
        description={t("settings.partOfTheRedirectUri")}
        placeholder={t("settings.google2")}
        required
        withAsterisk={false}
        spellCheck={false}
        autoCapitalize="off"
        maxLength={32}
        {...(account === null ? {} : { readOnly: true, variant: "filled" })}
        error={wrong("account") ?? (draft.id === "" ? null : idProblem(draft.id, account, taken))}
        value={draft.id}
        onChange={(event) => change({ id: event.currentTarget.value })}
      />
      <Alert variant="light" color="gray" title={t("settings.redirectUri")} role="note">
        <Stack gap={4}>
          <Text fz="sm">{t("settings.registerSluiceAsAWeb")}</Text>
          {callback === null ? (
            <Text fz="sm" c="dimmed">
              {t("settings.giveAnIdFirst")}
            </Text>
          ) : (
            <CopyText value={callback} label={t("settings.copyRedirectUri")} />
          )}
        </Stack>
      </Alert>
      <TextInput
        label={t("settings.issuer")}
        description={t("settings.itsAddressAsItCalls")}
        placeholder="https://accounts.google.com"
        type="url"
        required
        withAsterisk={false}
        spellCheck={false}
        maxLength={2_048}
        error={wrong("issuer")}
        value={draft.issuer}
        onChange={(event) => change({ issuer: event.currentTarget.value })}
      />
      <TextInput
        label={t("settings.clientId")}
        required
        withAsterisk={false}
        autoComplete="off"
        spellCheck={false}
        maxLength={512}
        error={wrong("client_id")}
        value={draft.clientId}
        onChange={(event) => change({ clientId: event.currentTarget.value })}
      />
      <PasswordInput
        label={t("settings.clientSecret")}
        description={
          account === null
            ? t("settings.keptSealedAndNeverShown")
            : issuerChanged
              ? t("settings.theIssuerChangesSoIts")
              : t("settings.oneIsStoredLeaveThis")
        }
        placeholder={account === null || issuerChanged ? undefined : t("settings.stored")}
        autoComplete="off"
        maxLength={2_048}
        error={wrong("client_secret")}
        value={draft.clientSecret}
        onChange={(event) => change({ clientSecret: event.currentTarget.value })}
      />
      <TagsInput
        label={t("settings.mailDomains")}
        description={t("settings.itSignsInPeopleWith")}
        placeholder={draft.domains.length === 0 ? t("settings.exampleCom") : undefined}
        maxTags={100}
        acceptValueOnBlur
        splitChars={[",", " "]}
        error={wrong("allowed_domains")}
        value={[...draft.domains]}
        onChange={(typed) => change({ domains: domainsOf(typed) })}
      />
      <Switch
        label={t("settings.itAsksForASecond")}
        description={t("settings.thenPeopleWhoSetUp")}
        checked={draft.secondFactorTrusted}
        onChange={(event) => change({ secondFactorTrusted: event.currentTarget.checked })}
      />
    </FormDrawer>
  );
}
