'use strict';
// A session of the public SDK of the Model Context Protocol with `daylight mcp`: it asks why a build was slow, and prints what it was told.

const { Client } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

/** The JSON that the test gave as the first argument: the command and its environment, the form of the protocol, the question. */
const given = JSON.parse(process.argv[2]);

async function session() {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: given.mode } });
  const transport = new StdioClientTransport({ command: given.command, args: ['mcp'], env: given.environment, stderr: 'pipe' });
  let logged = '';
  transport.stderr?.on('data', (piece) => { logged += piece; });
  await client.connect(transport);
  const call = (name, args) => client.callTool({ name, arguments: args });
  const told = {
    server: client.getServerVersion(),
    version: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    tools: (await client.listTools()).tools,
    findings: await call('findings', {}),
  };
  if (given.question) {
    told.asked = await call('ask', { question: given.question });
    const slowest = told.asked.structuredContent.answer.rows[0].id;
    told.explained = await call('explain_event', { event: slowest });
    told.upstreams = await call('upstreams', {});
    told.path = await call('explain', given.path);
    told.resources = (await client.listResources()).resources;
    told.columns = await client.readResource({ uri: told.resources[0].uri });
  }
  await client.close();
  return { ...told, logged };
}

session().then((told) => process.stdout.write(JSON.stringify(told))).catch((error) => {
  console.error(error);
  process.exit(1);
});
