/** The same shop in three databases: relations, circles, keys. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cloneWorld } from '../../support/commands/database-clones.ts'
import { sqliteFile } from '../../support/databases/sqlite-file.ts'
import { startMariadb, startPostgres } from '../../support/databases/sql-servers.ts'

t.setTimeout(60_000)

/** A shop, in the SQL that the three databases share. */
const SHOP = `
CREATE TABLE country (code char(2) PRIMARY KEY, name varchar(60) NOT NULL UNIQUE);
CREATE TABLE city (id integer PRIMARY KEY, name varchar(60) NOT NULL, country_code char(2) NOT NULL, FOREIGN KEY (country_code) REFERENCES country (code));
CREATE TABLE address (id integer PRIMARY KEY, street varchar(100), city_id integer, FOREIGN KEY (city_id) REFERENCES city (id) ON DELETE SET NULL);
CREATE TABLE staff (id integer PRIMARY KEY, name varchar(60) NOT NULL, manager_id integer, store_id integer, FOREIGN KEY (manager_id) REFERENCES staff (id));
CREATE TABLE store (id integer PRIMARY KEY, address_id integer NOT NULL, head_id integer NOT NULL, FOREIGN KEY (address_id) REFERENCES address (id), FOREIGN KEY (head_id) REFERENCES staff (id));
CREATE TABLE customer (id integer PRIMARY KEY, email varchar(80) UNIQUE, billing_id integer, shipping_id integer, FOREIGN KEY (billing_id) REFERENCES address (id), FOREIGN KEY (shipping_id) REFERENCES address (id));
CREATE TABLE category (id integer PRIMARY KEY, name varchar(60), parent_id integer, FOREIGN KEY (parent_id) REFERENCES category (id));
CREATE TABLE product (id integer PRIMARY KEY, name varchar(60) NOT NULL, price decimal(10,2) NOT NULL, category_id integer, category varchar(20), FOREIGN KEY (category_id) REFERENCES category (id));
CREATE TABLE supplier (code varchar(20) PRIMARY KEY, tax_no varchar(20) UNIQUE);
CREATE TABLE product_supplier (product_id integer NOT NULL, supplier_code varchar(20) NOT NULL, PRIMARY KEY (product_id, supplier_code), FOREIGN KEY (product_id) REFERENCES product (id) ON DELETE CASCADE, FOREIGN KEY (supplier_code) REFERENCES supplier (code));
CREATE TABLE purchase (id integer PRIMARY KEY, customer_id integer NOT NULL, at date, FOREIGN KEY (customer_id) REFERENCES customer (id));
CREATE TABLE item (purchase_id integer NOT NULL, line integer NOT NULL, product_id integer NOT NULL, PRIMARY KEY (purchase_id, line), FOREIGN KEY (purchase_id) REFERENCES purchase (id), FOREIGN KEY (product_id) REFERENCES product (id));
CREATE TABLE refund (id integer PRIMARY KEY, purchase_id integer, line integer, tax_no varchar(20), FOREIGN KEY (purchase_id, line) REFERENCES item (purchase_id, line), FOREIGN KEY (tax_no) REFERENCES supplier (tax_no));
CREATE TABLE visit (page varchar(20), seconds integer);
CREATE TABLE flag (id integer PRIMARY KEY);
INSERT INTO country VALUES ('FR', 'France'), ('PL', 'Pologne');
INSERT INTO city VALUES (1, 'Paris', 'FR'), (2, 'Lwów', 'PL');
INSERT INTO address VALUES (1, '1 rue', 1), (2, '2 rue', NULL), (3, NULL, 2);
INSERT INTO staff VALUES (1, 'Head', NULL, NULL), (2, 'Second', 1, NULL), (3, 'Own', 3, NULL);
INSERT INTO store VALUES (1, 1, 2);
UPDATE staff SET store_id = 1;
INSERT INTO customer VALUES (1, 'a@b', 1, 2), (2, NULL, 3, NULL);
INSERT INTO category VALUES (1, 'root', NULL), (2, 'leaf', 1);
INSERT INTO product VALUES (10, 'Pen', 1.50, 2, 'text'), (11, 'Ink', 0.10, NULL, NULL);
INSERT INTO supplier VALUES ('S1', 'T1'), ('S2', NULL);
INSERT INTO product_supplier VALUES (10, 'S1'), (10, 'S2'), (11, 'S1');
INSERT INTO purchase VALUES (100, 1, '2026-01-31');
INSERT INTO item VALUES (100, 1, 10), (100, 2, 11);
INSERT INTO refund VALUES (1, 100, 2, 'T1');
INSERT INTO visit VALUES ('home', 1), ('home', 1);
CREATE VIEW cheap AS SELECT id, name FROM product WHERE price < 1;
CREATE VIEW dear AS SELECT name FROM product WHERE price > 1`
/** Completes a circle, which needs a table that exists. */
const CIRCLE = 'ALTER TABLE staff ADD FOREIGN KEY (store_id) REFERENCES store (id)'
const CIRCLE_OF_SQLITE = SHOP.replace('store_id integer, FOREIGN', 'store_id integer REFERENCES store, FOREIGN')

async function testShop(t: Test, source: string, world = cloneWorld(t)): Promise<void> {
  const { text, isComplete } = await world.clone(source, {
    names: { product: 'Article' },
    views: { cheap: 'id', dear: null },
  })
  t.same(world.rejected(), {})
  t.ok(isComplete, text)
  t.match(text, /product_supplier has the key product_id, supplier_code: the attribute ID/)
  t.match(text, /refund: the foreign key purchase_id, line to item is not a relation, because it has several columns/)
  t.match(
    text,
    /refund: the foreign key tax_no to supplier is not a relation, because tax_no is not the key of that table/,
  )
  const { dataClasses } = world.model()
  const relations = Object.entries<{ attributes: Record<string, Record<string, string>> }>(dataClasses).flatMap(
    ([name, { attributes }]) =>
      Object.entries(attributes).flatMap(([attribute, { kind, type, inverseName, foreignKey, onDelete }]) =>
        kind === 'relatedEntity'
          ? [`${name}.${attribute} ${foreignKey} → ${type}.${inverseName}${onDelete ? ` ${onDelete}` : ''}`]
          : [],
      ),
  )
  t.same(relations.sort(), [
    'Article.category_id_category category_id → category.Articles',
    'address.city city_id → city.addresses setNull',
    'category.parent parent_id → category.children',
    'city.country country_code → country.cities',
    'customer.billing billing_id → address.customers_by_billing',
    'customer.shipping shipping_id → address.customers_by_shipping',
    'item.product product_id → Article.items',
    'item.purchase purchase_id → purchase.items',
    'product_supplier.product product_id → Article.product_suppliers cascade',
    'product_supplier.supplier supplier_code → supplier.product_suppliers',
    'purchase.customer customer_id → customer.purchases',
    'staff.manager manager_id → staff.subordinates',
    'staff.store store_id → store.staffs',
    'store.address address_id → address.stores',
    'store.head head_id → staff.stores',
  ])
  const get = await world.serve()
  const json = async (path: string) => JSON.parse((await get(path)).toString())
  const staff = await json(
    'staff?$attributes=name,manager.name,store.address.city.country.name&$orderby="id"&$asArray=true',
  )
  t.match(staff, [
    { name: 'Head', manager: null, store: { address: { city: { country: { name: 'France' } } } } },
    { name: 'Second', manager: { name: 'Head' } },
    { name: 'Own', manager: { name: 'Own' } },
  ])
  t.match(await json('supplier?$filter="product_suppliers.product.name=Ink"&$asArray=true'), [{ code: 'S1' }])
  t.match(await json('visit?$asArray=true'), [{ page: 'home' }, { page: 'home' }])
  t.match(await json('cheap?$asArray=true'), [{ id: 11, name: 'Ink' }])
  t.equal((await json('flag')).__COUNT, 0)
}

t.test('a shop in SQLite', async t => {
  const world = cloneWorld(t)
  await testShop(t, sqliteFile(join(world.cwd, 'shop.db'), CIRCLE_OF_SQLITE), world)
})

for (const [name, start] of [
  ['PostgreSQL', startPostgres],
  ['MariaDB', startMariadb],
] as const) {
  t.test(`a shop in ${name}`, async t => {
    const server = await start()
    if (typeof server === 'string') {
      t.comment(`skipped: ${server}`)
      return
    }
    t.teardown(() => server.stop())
    await server.run(`${SHOP};\n${CIRCLE}`)
    await testShop(t, server.url)
    t.test('names that are not legal, 1,000 columns, no columns', async t => {
      const cloned = cloneWorld(t)
      // Names of MariaDB have no characters beyond the basic plane.
      const emoji = name === 'MariaDB' ? '☃' : '😀'
      const order = `o"r'd\`er ${emoji}`
      const quote = name === 'MariaDB' ? '`' : '"'
      const named = (text: string) => `${quote}${text.replaceAll(quote, quote + quote)}${quote}`
      const columns = Array.from({ length: name === 'MariaDB' ? 100 : 1000 }, (_, i) => `c${i} integer`).join(', ')
      const hostile = ['__KEY', '$filter', 'a b', `q"'\`\\`, emoji, 'not', 'constructor', '__proto__', '1st', 'é'].map(
        each => `${named(each)} integer`,
      )
      await server.run(`CREATE TABLE ${named(order)} (id integer PRIMARY KEY, ${hostile.join(', ')});
        INSERT INTO ${named(order)} VALUES (1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        CREATE TABLE wide (id integer PRIMARY KEY, ${columns}); INSERT INTO wide (id, c99) VALUES (1, 7)`)
      const { isComplete, text } = await cloned.clone(server.url, { only: [order, 'wide'] })
      t.ok(isComplete, text)
      const get = await cloned.serve()
      const [row] = JSON.parse((await get('o_r_d_er_?$asArray=true')).toString())
      t.match(row, {
        _KEY: 1,
        _filter: 2,
        a_b: 3,
        q_: 4,
        column_6: 5,
        not_: 6,
        constructor: 7,
        _proto__: 8,
        _1st: 9,
        é: 10,
      })
      t.match(JSON.parse((await get('wide(1)')).toString()), { c0: null, c99: 7 })
    })
  })
}
