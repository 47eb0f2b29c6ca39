import { badUpstreams } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

badUpstreams(moderationsEndpoint);
