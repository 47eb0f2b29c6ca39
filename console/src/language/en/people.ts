export const people = {
  keys: {
    label: "Choose what happens to these keys",
    made: "{name} owns {count, plural, one {<b>an API key</b>} other {<b># API keys</b>}}: {names}. Apps may still use them, and so may anyone with a secret.",
    madeMany:
      "{name} owns <b>more than {count, plural, other {#}} API keys</b>: {names}. Apps may still use them, and so may anyone with a secret.",
    names: "{names} and {more, plural, other {#}} more",
    revoke: "Revoke them",
    revokeHelp: "They stop working at once, permanently.",
    disable: "Disable them",
    disableHelp: "They stop working at once, until an admin enables them.",
    transfer: "Transfer them",
    transferHelp: "They keep working. Rotate every secret that the leaving person may have.",
    transferByAdmin: "Some of these keys spend in your name. Ask an admin of the workspace to transfer them.",
    newOwner: "New owner",
    newOwnerPlaceholder: "Choose a person",
    person: "{name} ({email})",
  },
} as const;
