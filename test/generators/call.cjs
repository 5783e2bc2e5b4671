// Calls one operation of each tag by the clients of a generator, and prints their statuses: node call.cjs GENERATOR ADDRESS KEY

const [generator, address, key] = process.argv.slice(2);
const { callEachTag } = require(`./.generated/js/calls/${generator}.js`);

void callEachTag(address, key).then((statuses) => process.stdout.write(JSON.stringify(statuses)));
