import { Alert, Text } from "@mantine/core";
import type { AccessCheck, AccessReason, Need } from "@sluice/contract";
import { IconArrowRight } from "@tabler/icons-react";
import { Link, type LinkProps } from "@tanstack/react-router";
import { t } from "../../language/areas/access.ts";
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
    <Alert variant="light" color="gray" title={t("access.toChangeIt")}>
      <Text size="sm">{words}</Text>
      {may(needs, workspace) ? (
        <Link {...link} className="text-link access-way">
          {verb}
          <IconArrowRight size={14} aria-hidden />
        </Link>
      ) : (
        <Text size="sm" mt={4}>
          {needs === "administrator" ? t("access.onlyAnAdministratorCan") : t("access.somebodyWhoIsOfThe", { needs })}
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
      words: t("access.enableTheWorkspaceAgain"),
      verb: t("access.openTheWorkspace"),
      link: toWorkspace,
      needs: "administrator",
    },
    workspace_models: {
      words: t("access.addOrAPatternThat", { model }),
      verb: t("access.changeTheWorkspace"),
      link: toWorkspace,
      needs: "administrator",
    },
    group_models: {
      words: t("access.addOrAPatternThat2", { model }),
      verb: t("access.changeTheGroup"),
      link: toGroup,
      needs: "admin",
    },
    key_models: {
      words: t("access.addOrAPatternThat3", { model }),
      verb: t("access.changeTheKey"),
      link: toKey({ edit: "1" }),
      needs: "member",
    },
    key_disabled: {
      words: t("access.enableTheKeyAgain"),
      verb: t("access.openTheKey"),
      link: toKey({}),
      needs: "member",
    },
    key_expired: {
      words: t("access.giveTheKeyALater"),
      verb: t("access.changeTheKey"),
      link: toKey({ edit: "1" }),
      needs: "member",
    },
    key_revoked: {
      words: t("access.aRevokedKeyStaysRevoked"),
      verb: "Make a key",
      link: { to: "/keys", search: { ...search, create: "1" } },
      needs: "member",
    },
    key_without_secret: {
      words: t("access.giveTheKeyASecret"),
      verb: t("access.openTheKey"),
      link: toKey({}),
      needs: "member",
    },
    no_deployment: {
      words: t("access.addADeploymentToThe"),
      verb: t("access.openTheModel"),
      link: { to: "/models/$model", params: { model }, search },
      needs: "administrator",
    },
  };
  return ways[reason] ?? null;
}
