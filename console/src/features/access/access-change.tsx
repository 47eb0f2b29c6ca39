import { Alert, Text } from "@mantine/core";
import type { AccessCheck, AccessReason, Need } from "@sluice/contract";
import { IconArrowRight } from "@tabler/icons-react";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useSession } from "../../session/session-context.tsx";

interface AccessChangeProps {
  readonly check: AccessCheck;
  readonly workspace: string;
  readonly group: string | null;
}

interface Advice {
  readonly words: string;
  readonly verb: string;
  readonly link: LinkProps;
  readonly needs: Need;
}

/** What would have to change for the key to call the model, and the way there. */
export function AccessChange({ check, workspace, group }: AccessChangeProps) {
  const { may } = useSession();
  const advice = adviceFor(check, workspace, group);
  if (advice === null) return null;
  const { words, verb, link, needs } = advice;
  return (
    <Alert variant="light" color="gray" title="To change it">
      <Text size="sm">{words}</Text>
      {may(needs, workspace) ? (
        <Link {...link} className="text-link access-way">
          {verb}
          <IconArrowRight size={14} aria-hidden />
        </Link>
      ) : (
        <Text size="sm" mt={4}>
          {needs === "administrator" ? "Only an administrator can." : `Somebody who is ${needs} of the workspace can.`}
        </Text>
      )}
    </Alert>
  );
}

function adviceFor({ reason, key, model }: AccessCheck, workspace: string, group: string | null): Advice | null {
  const search = { workspace };
  const toWorkspace: LinkProps = {
    to: "/workspaces/$workspace",
    params: { workspace },
    search: { ...search, edit: "1" },
  };
  const toGroup: LinkProps = {
    to: "/workspaces/$workspace",
    params: { workspace },
    search: { ...search, tab: "groups", ...(group === null ? {} : { group }) },
  };
  const toKey = (more: Record<string, string>): LinkProps => ({
    to: "/keys/$key",
    params: { key: key.id },
    search: { ...search, ...more },
  });
  const ways: Readonly<Partial<Record<AccessReason, Advice>>> = {
    workspace_disabled: {
      words: "Enable the workspace again.",
      verb: "Open the workspace",
      link: toWorkspace,
      needs: "administrator",
    },
    workspace_models: {
      words: `Add ${model}, or a pattern that takes it in, to the models of the workspace. Group and key must let it through as well.`,
      verb: "Change the workspace",
      link: toWorkspace,
      needs: "administrator",
    },
    group_models: {
      words: `Add ${model}, or a pattern that takes it in, to the models of the group, or move the key to another group.`,
      verb: "Change the group",
      link: toGroup,
      needs: "admin",
    },
    key_models: {
      words: `Add ${model}, or a pattern that takes it in, to the models of the key, or let it call all that its group may.`,
      verb: "Change the key",
      link: toKey({ edit: "1" }),
      needs: "member",
    },
    key_disabled: { words: "Enable the key again.", verb: "Open the key", link: toKey({}), needs: "member" },
    key_expired: {
      words: "Give the key a later end, or none.",
      verb: "Change the key",
      link: toKey({ edit: "1" }),
      needs: "member",
    },
    key_revoked: {
      words: "A revoked key stays revoked. Make another one.",
      verb: "Make a key",
      link: { to: "/keys", search: { ...search, create: "1" } },
      needs: "member",
    },
    key_without_secret: {
      words: "Give the key a secret by rotating it.",
      verb: "Open the key",
      link: toKey({}),
      needs: "member",
    },
    no_deployment: {
      words: "Add a deployment to the model, or enable one.",
      verb: "Open the model",
      link: { to: "/models/$model", params: { model }, search },
      needs: "administrator",
    },
  };
  return ways[reason] ?? null;
}
