/** The call that uploads a file. */
export function uploadCall(baseUrl: string): string {
  return [
    `curl ${baseUrl.replace(/\/+$/, "")}/v1/files \\`,
    '  -H "Authorization: Bearer $SLUICE_API_KEY" \\',
    "  -F purpose=user_data \\",
    "  -F file=@report.pdf",
  ].join("\n");
}
