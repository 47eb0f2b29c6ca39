import { Button, Group, Stack, Table, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useAuthAct } from "../../api/use-auth.ts";
import { Section } from "../../components/section.tsx";
import { useSession } from "../../session/session-context.tsx";

export function YouSection() {
  const { user, answer } = useSession();
  const [name, setName] = useState(user.name);
  const rename = useAuthAct<{ name: string }>("/update-user", { done: "Name changed." });
  const changed = name.trim() !== user.name && name.trim() !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed) rename.mutate({ name: name.trim() });
  };
  return (
    <Section
      title="You"
      description={user.administrator ? `${user.email} · administrator of this installation` : user.email}
    >
      <Stack gap="md">
        <form onSubmit={submit}>
          <Group align="flex-end" gap="xs">
            <TextInput
              label="Name"
              description="As others see it, in lists and in the audit log."
              autoComplete="name"
              maxLength={256}
              required
              withAsterisk={false}
              w="min(20rem, 100%)"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Button type="submit" size="sm" disabled={!changed} loading={rename.isPending}>
              Save
            </Button>
          </Group>
        </form>
        {!user.administrator && <Workspaces workspaces={answer.workspaces} />}
      </Stack>
    </Section>
  );
}

function Workspaces({ workspaces }: { readonly workspaces: ReturnType<typeof useSession>["answer"]["workspaces"] }) {
  if (workspaces.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        You belong to no workspace yet. Ask an administrator, or the owner of a workspace, for an invitation.
      </Text>
    );
  }
  return (
    <Table w="fit-content" captionSide="top">
      <Table.Caption>Your workspaces</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Workspace</Table.Th>
          <Table.Th>Your role</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {workspaces.map((each) => (
          <Table.Tr key={each.id}>
            <Table.Td>
              <Link
                to="/workspaces/$workspace"
                params={{ workspace: each.slug }}
                search={{ workspace: each.slug }}
                className="text-link"
              >
                {each.name}
              </Link>
            </Table.Td>
            <Table.Td>{each.role}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
