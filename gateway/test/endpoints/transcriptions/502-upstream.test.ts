import { badUpstreams } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

badUpstreams(transcriptionsEndpoint);
