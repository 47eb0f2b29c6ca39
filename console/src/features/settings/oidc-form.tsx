import { Alert, Group, NumberInput, PasswordInput, Stack, Switch, TagsInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { FormDrawer } from "../../components/form-drawer.tsx";
import { t as rulesText } from "../../language/areas/rules.ts";
import { t } from "../../language/areas/settings.ts";
import { useSession } from "../../session/session-context.tsx";
import { useFaults } from "../catalog/use-faults.ts";
import {
  bodyOf,
  callbackUrl,
  domainsOf,
  draftOf,
  faultsOf,
  graceHoursBounds,
  type OidcAccount,
  type OidcDraft,
  recheckMinutesBounds,
} from "./oidc-draft.ts";

interface OidcFormProps {
  /** null: a new account. */
  readonly account: OidcAccount | null;
  readonly usedIds: readonly OidcAccount[];
  readonly onClose: () => void;
}

/** First the values to register with the issuer, then those from the issuer. */
export function OidcForm({ account, usedIds: taken, onClose }: OidcFormProps) {
  const { answer } = useSession();
  const [stored] = useState<OidcDraft>(() => draftOf(account));
  const [draft, setDraft] = useState(stored);
  const save = useAct("settings.putOidc", {
    inline: true,
    invalidates: ["settings.show", "session.show"],
    done: account === null ? t("settings.oidc.added") : t("settings.oidc.saved"),
    onDone: onClose,
  });
  const change = (changes: Partial<OidcDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const faults = useFaults(faultsOf(draft, account, taken), save.error);
  return (
    <FormDrawer
      opened
      title={account === null ? t("settings.oidc.addTitle") : account.name}
      verb={account === null ? t("settings.oidc.add") : t("settings.oidc.save")}
      onClose={onClose}
      onSubmit={() => faults.check() && save.mutate({ params: { account: draft.id }, body: bodyOf(draft) })}
      saving={save.isPending}
      problem={save.error}
    >
      <TextInput
        label={t("settings.name")}
        description={t("settings.oidc.nameHelp")}
        placeholder={t("settings.oidc.nameExample")}
        withAsterisk
        data-autofocus
        maxLength={256}
        error={faults.of("name")}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <TextInput
        label={t("settings.oidc.id")}
        description={t("settings.oidc.idHelp")}
        placeholder={t("settings.oidc.idExample")}
        withAsterisk
        spellCheck={false}
        autoCapitalize="off"
        maxLength={32}
        {...(account === null ? {} : { readOnly: true, variant: "filled" })}
        error={faults.of("account")}
        value={draft.id}
        onChange={(event) => change({ id: event.currentTarget.value })}
      />
      <RedirectUri uri={account?.callback_url ?? callbackUrl(answer.public_url, draft.id)} />
      <IssuerFields draft={draft} account={account} fault={faults.of} change={change} />
      <TagsInput
        label={t("settings.oidc.domains")}
        description={t("settings.oidc.domainsHelp")}
        placeholder={draft.domains.length === 0 ? t("settings.oidc.domainsExample") : undefined}
        maxTags={100}
        acceptValueOnBlur
        splitChars={[",", " "]}
        error={faults.of("allowed_domains")}
        value={[...draft.domains]}
        onChange={(typed) => change({ domains: domainsOf(typed) })}
      />
      <Switch
        label={t("settings.oidc.secondFactor")}
        description={t("settings.oidc.secondFactorHelp")}
        checked={draft.secondFactorTrusted}
        onChange={(event) => change({ secondFactorTrusted: event.currentTarget.checked })}
      />
      <TextInput
        label={t("settings.oidc.directoryClaim")}
        description={t("settings.oidc.directoryClaimHelp")}
        spellCheck={false}
        autoCapitalize="off"
        maxLength={128}
        error={faults.of("directory_claim")}
        value={draft.directoryClaim}
        onChange={(event) => change({ directoryClaim: event.currentTarget.value })}
      />
      <ClaimFields draft={draft} fault={faults.of} change={change} />
    </FormDrawer>
  );
}

interface IssuerFieldsProps {
  readonly draft: OidcDraft;
  readonly account: OidcAccount | null;
  readonly fault: (field: string) => string | null;
  readonly change: (changes: Partial<OidcDraft>) => void;
}

/** The issuer's URL and client credentials. */
function IssuerFields({ draft, account, fault, change }: IssuerFieldsProps) {
  const issuerChanged = account !== null && draft.issuer.trim() !== account.issuer;
  return (
    <>
      <TextInput
        label={t("settings.oidc.issuer")}
        description={t("settings.oidc.issuerHelp")}
        placeholder="https://accounts.google.com"
        type="url"
        withAsterisk
        spellCheck={false}
        maxLength={2_048}
        error={fault("issuer")}
        value={draft.issuer}
        onChange={(event) => change({ issuer: event.currentTarget.value })}
      />
      <TextInput
        label={t("settings.oidc.clientId")}
        withAsterisk
        autoComplete="off"
        spellCheck={false}
        maxLength={512}
        error={fault("client_id")}
        value={draft.clientId}
        onChange={(event) => change({ clientId: event.currentTarget.value })}
      />
      <PasswordInput
        label={t("settings.oidc.clientSecret")}
        withAsterisk={account === null || issuerChanged}
        description={
          account === null
            ? t("settings.oidc.secretHelp")
            : issuerChanged
              ? t("settings.oidc.secretAgain")
              : t("settings.oidc.secretStored")
        }
        placeholder={account === null || issuerChanged ? undefined : t("settings.oidc.stored")}
        autoComplete="off"
        maxLength={2_048}
        error={fault("client_secret")}
        value={draft.clientSecret}
        onChange={(event) => change({ clientSecret: event.currentTarget.value })}
      />
    </>
  );
}

/** Additional scopes, and how often to check with the issuer. */
function ClaimFields({ draft, fault, change }: Omit<IssuerFieldsProps, "account">) {
  return (
    <>
      <TagsInput
        label={rulesText("rules.issuer.scopes")}
        description={rulesText("rules.issuer.scopesHelp")}
        placeholder={draft.scopes.length === 0 ? rulesText("rules.issuer.scopesExample") : undefined}
        maxTags={20}
        acceptValueOnBlur
        splitChars={[",", " "]}
        error={fault("scopes")}
        value={[...draft.scopes]}
        onChange={(scopes) => change({ scopes })}
      />
      <Switch
        label={rulesText("rules.issuer.offline")}
        description={rulesText("rules.issuer.offlineHelp")}
        checked={draft.offlineAccess}
        onChange={(event) => change({ offlineAccess: event.currentTarget.checked })}
      />
      {draft.offlineAccess && (
        <Group grow align="flex-start" gap="sm">
          <NumberInput
            label={rulesText("rules.issuer.recheck")}
            description={rulesText("rules.issuer.recheckHelp")}
            suffix={` ${rulesText("rules.issuer.minutes")}`}
            {...recheckMinutesBounds}
            allowDecimal={false}
            allowNegative={false}
            clampBehavior="none"
            error={fault("recheck_minutes")}
            value={draft.recheckMinutes}
            onChange={(typed) => change({ recheckMinutes: typeof typed === "number" ? typed : "" })}
          />
          <NumberInput
            label={rulesText("rules.issuer.grace")}
            description={rulesText("rules.issuer.graceHelp")}
            suffix={` ${rulesText("rules.issuer.hours")}`}
            {...graceHoursBounds}
            allowDecimal={false}
            allowNegative={false}
            clampBehavior="none"
            error={fault("grace_hours")}
            value={draft.graceHours}
            onChange={(typed) => change({ graceHours: typeof typed === "number" ? typed : "" })}
          />
        </Group>
      )}
    </>
  );
}

/** `uri`: null while there is no valid id. */
function RedirectUri({ uri }: { readonly uri: string | null }) {
  return (
    <Alert variant="light" color="gray" title={t("settings.oidc.redirectUri")} role="note">
      <Stack gap={4}>
        <Text fz="sm">{t("settings.oidc.register")}</Text>
        {uri === null ? (
          <Text fz="sm" c="dimmed">
            {t("settings.oidc.noId")}
          </Text>
        ) : (
          <CopyText value={uri} label={t("settings.oidc.copyRedirectUri")} />
        )}
      </Stack>
    </Alert>
  );
}
