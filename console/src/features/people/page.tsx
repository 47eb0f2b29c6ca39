import { Button, Group, Skeleton, Stack } from "@mantine/core";
import { everyWorkspace, type PersonDetail } from "@sluice/contract";
import { Link, useParams } from "@tanstack/react-router";
import { useAct } from "../../api/use-act.ts";
import { useCall } from "../../api/use-call.ts";
import { Facts } from "../../components/facts.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/people.ts";
import { useSession } from "../../session/session-context.tsx";
import { useWorkspace } from "../../session/workspace.ts";
import { PersonLimits } from "../own-usage/person-limits.tsx";
import { SpendSection } from "../own-usage/spend-section.tsx";
import { AgentTable } from "../profile/agents-section.tsx";
import { roleWords } from "../workspaces/role-words.ts";
import { KeyList } from "./key-list.tsx";
import { MonthFigures } from "./month-figures.tsx";
import { Offboard } from "./offboard.tsx";
import { SignInSection } from "./sign-in-section.tsx";

/** A person: spend, keys, limits, agents and sign-in, in the selected workspace or all. */
export default function PersonPage() {
  const { person: id } = useParams({ from: "/people/$person" });
  const { path } = useWorkspace();
  const query = useCall("people.show", { params: { workspace: path, user: id } });
  const person = query.data;
  if (person === undefined) {
    return (
      <PageFrame title={t("people.person.title")}>
        {query.error === null ? (
          <Stack gap="lg" aria-busy="true">
            <Skeleton height={36} />
            <Skeleton height={220} />
          </Stack>
        ) : (
          <ProblemAlert problem={query.error} onRetry={() => void query.refetch()} />
        )}
      </PageFrame>
    );
  }
  return <Person key={`${id} ${path}`} person={person} workspace={path} />;
}

interface PersonProps {
  readonly person: PersonDetail;
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
}

function Person({ person, workspace }: PersonProps) {
  const { user } = useSession();
  const { id, email } = person;
  const name = person.name || email;
  const isAll = workspace === everyWorkspace;
  return (
    <PageFrame
      title={name}
      crumbs={[
        isAll
          ? { label: t("people.person.people"), link: { to: "/people" } }
          : {
              label: t("people.person.members", { workspace }),
              link: { to: "/workspaces/$workspace", params: { workspace }, search: { workspace, tab: "members" } },
            },
      ]}
      badges={
        <Group gap="xs">
          {id === user.id && <StatusBadge status="you" tone="off" />}
          {person.administrator && <StatusBadge status="administrator" tone="busy" />}
          {person.disabled && <StatusBadge status="disabled" tone="bad" />}
        </Group>
      }
      description={isAll ? email : t("people.person.within", { email, workspace })}
      actions={
        <>
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/requests" search={{ workspace, person: id, range: "7d" }} {...props} />}
          >
            {t("people.person.requests")}
          </Button>
          {person.disabled && user.administrator && <Enable person={person} />}
          <Offboard person={person} workspace={workspace} />
        </>
      }
    >
      <SpendSection
        workspace={workspace}
        of={{ person: id }}
        figures={<MonthFigures workspace={workspace} of={{ person: id }} />}
      />
      <KeyList
        title={t("people.keys.title")}
        description={t("people.keys.help")}
        empty={t("people.keys.empty", { name })}
        workspace={workspace}
        of={{ user: id }}
      />
      <PersonLimits
        workspace={workspace}
        person={id}
        help={t("people.person.limits", { name })}
        empty={t("people.person.noLimits", { name })}
      />
      <Memberships person={person} />
      <Section flush title={t("people.agents.title")} description={t("people.agents.help", { name })}>
        <AgentTable
          agents={person.agents}
          mayEnd={user.administrator || id === user.id}
          empty={t("people.agents.empty")}
        />
      </Section>
      {person.sign_in !== null && <SignInSection signIn={person.sign_in} />}
    </PageFrame>
  );
}

function Enable({ person }: { readonly person: PersonDetail }) {
  const enable = useAct("users.update", {
    invalidates: ["people.show", "users.list"],
    done: t("people.person.enabled", { email: person.email }),
  });
  return (
    <Button
      variant="default"
      loading={enable.isPending}
      onClick={() => enable.mutate({ params: { user: person.id }, body: { disabled: false } })}
    >
      {t("people.person.enable")}
    </Button>
  );
}

function Memberships({ person: { workspaces, administrator } }: { readonly person: PersonDetail }) {
  return (
    <Section
      title={t("people.memberships.title")}
      {...(administrator ? { description: t("people.memberships.administrator") } : {})}
    >
      {workspaces.length === 0 && !administrator && t("people.memberships.none")}
      <Facts
        facts={workspaces.map(({ slug, role }) => ({
          name: slug,
          value: (
            <Link
              to="/workspaces/$workspace"
              params={{ workspace: slug }}
              search={{ workspace: slug, tab: "members" }}
              className="text-link"
            >
              {roleWords[role].label}
            </Link>
          ),
        }))}
      />
    </Section>
  );
}
