// What k6 runs, whatever the load: the file named by LOAD says which requests, and as which scenarios.
import { sleep } from 'k6';
import execution from 'k6/execution';
import http from 'k6/http';

const INVALID_URL = 1020;

const load = JSON.parse(open(__ENV.LOAD));

const requests = load.requests.map((request) => ({
  ...request,
  body: request.body && open(request.body, 'b'),
}));

export const options = load.options;

function nextRequest() {
  if (__ENV.REQUEST !== undefined) return requests[__ENV.REQUEST];
  if (requests.length === 1) return requests[0];
  return requests[execution.scenario.iterationInTest % requests.length];
}

export default function () {
  const { method, url, body, params } = nextRequest();
  try {
    http.request(method, url, body, params);
  } catch (error) {
    // A request without an answer is in k6's samples; one that was never sent is not.
    if (error.value && Number(error.value.code) === INVALID_URL) execution.test.abort(String(error));
  }
  if (load.think_s) {
    const [shortest, longest] = load.think_s;
    sleep(shortest + Math.random() * (longest - shortest));
  }
}
