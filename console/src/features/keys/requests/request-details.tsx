import { Anchor, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import type { KeyRequest } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { Facts } from "../../../components/facts.tsx";
import { When } from "../../../components/figures.tsx";
import { wrongField } from "../../../components/form-drawer.tsx";
import { FormProblem } from "../../../components/form-problem.tsx";
import { personText } from "../../../components/person-text.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/keys.ts";
import { useSession } from "../../../session/session-context.tsx";
import type { CreatedKey } from "../key-created.tsx";
import { afterKeyChange } from "../key-routes.ts";
import { budgetWords, limitWords } from "../limit-words.ts";
import { afterRequestChange } from "./request-routes.ts";
import { requestStatus, settingsOf } from "./request-words.ts";

interface RequestDetailsProps {
  readonly request: KeyRequest;
  readonly onCollected: (made: CreatedKey) => void;
}

/** A request with its decision, and the next step of the requester. */
export function RequestDetails({ request, onCollected }: RequestDetailsProps) {
  const { user, may } = useSession();
  const isOwn = request.requester.id === user.id;
  const isOpen = request.state === "pending" || request.state === "approved";
  const { name, group, models, limits, budget, expires_at: expiresAt } = settingsOf(request);
  return (
    <Stack gap="md">
      <Group gap="sm">
        <StatusBadge {...requestStatus(request)} />
        {request.key !== null && (
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link
                to="/keys/$key"
                params={{ key: request.key ?? "" }}
                search={{ workspace: request.workspace.slug }}
                {...props}
              />
            )}
          >
            {t("keys.requests.openKey")}
          </Anchor>
        )}
      </Group>
      {request.state === "approved" && isOwn && <CollectKey request={request} onCollected={onCollected} />}
      <RequestFacts request={request} />
      <Text fw={600} component="h3" size="sm" m={0}>
        {request.granted === null ? t("keys.requests.requested") : t("keys.requests.granted")}
      </Text>
      <Facts
        facts={[
          { name: t("keys.name"), value: <span className="break">{name}</span> },
          { name: t("keys.group"), value: group?.name ?? t("keys.requests.groupGone") },
          { name: t("keys.models.title"), value: models === null ? t("keys.models.asGroup") : models.join(", ") },
          { name: t("keys.limits"), value: limitWords(limits) || t("keys.none") },
          { name: t("keys.budget"), value: budget === null ? t("keys.none") : budgetWords(budget) },
          { name: t("keys.expires"), value: expiresAt === null ? t("keys.never") : <When at={expiresAt} /> },
        ]}
      />
      {isOpen && (isOwn || (request.state === "approved" && may("admin", request.workspace.slug))) && (
        <WithdrawButton request={request} />
      )}
    </Stack>
  );
}

/** The requester, purpose and decision of a key request. */
export function RequestFacts({ request }: { readonly request: KeyRequest }) {
  const { decided_by: decider, decided_at: decidedAt, state } = request;
  const isOpen = state === "pending" || state === "approved" || state === "expired";
  return (
    <Facts
      facts={[
        { name: t("keys.requests.purpose"), value: <span className="break lines">{request.purpose}</span>, wide: true },
        { name: t("keys.requests.requester"), value: personText(request.requester) },
        { name: t("keys.workspace"), value: request.workspace.slug },
        { name: t("keys.requests.sentAt"), value: <When at={request.created_at} /> },
        ...(isOpen ? [{ name: t("keys.requests.until"), value: <When at={request.expires_at} /> }] : []),
        ...(decider === null ? [] : [{ name: t("keys.requests.decidedBy"), value: personText(decider) }]),
        ...(decidedAt === null ? [] : [{ name: t("keys.requests.decidedAt"), value: <When at={decidedAt} /> }]),
        ...(request.reason === null
          ? []
          : [
              {
                name: t("keys.requests.reason"),
                value: <span className="break lines">{request.reason}</span>,
                wide: true,
              },
            ]),
      ]}
    />
  );
}

function CollectKey({ request, onCollected }: RequestDetailsProps) {
  const [name, setName] = useState(settingsOf(request).name);
  const collect = useAct("keyRequests.collect", {
    inline: true,
    invalidates: [...afterRequestChange, ...afterKeyChange],
    onDone: onCollected,
  });
  const nameFault = wrongField(collect.error, "name");
  const params = { workspace: request.workspace.slug, request: request.id };
  return (
    <Stack gap="xs">
      <Text size="sm">{t("keys.requests.collectHelp")}</Text>
      {nameFault !== null && (
        <TextInput
          label={t("keys.name")}
          required
          maxLength={256}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={nameFault}
        />
      )}
      <FormProblem problem={collect.error} />
      <Group>
        <Button loading={collect.isPending} onClick={() => collect.mutate({ params, body: { name } })}>
          {t("keys.requests.collect")}
        </Button>
      </Group>
    </Stack>
  );
}

export function WithdrawButton({ request }: { readonly request: KeyRequest }) {
  const withdraw = useAct("keyRequests.withdraw", {
    invalidates: afterRequestChange,
    done: t("keys.requests.withdrawn"),
  });
  const params = { workspace: request.workspace.slug, request: request.id };
  return (
    <Group>
      <ConfirmButton
        title={t("keys.requests.withdrawTitle", { name: settingsOf(request).name })}
        verb={t("keys.requests.withdraw")}
        onConfirm={() => withdraw.mutateAsync({ params })}
      >
        {t("keys.requests.withdrawHelp")}
      </ConfirmButton>
    </Group>
  );
}
